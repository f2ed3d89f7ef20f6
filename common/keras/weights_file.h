// A file with the weights of a model: `.keras`, `.weights.h5`, legacy `.h5`,
// `.safetensors` or a checkpoint of TensorFlow. Formats differ in where they
// have a variable.
#ifndef PACELINE_COMMON_KERAS_WEIGHTS_FILE_H_
#define PACELINE_COMMON_KERAS_WEIGHTS_FILE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/random_access.h"
#include "common/hdf5/hdf5_index.h"
#include "common/keras/checkpoint_objects.h"
#include "common/keras/weight_paths.h"
#include "common/model/graph.h"

namespace paceline {

struct WeightsFile {
  enum class Format {
    // By structure (weight_paths.h).
    kKeras,
    // By the names of layers (legacy_h5.h, safetensors_weights.h).
    kLegacy,
    kSafetensors,
    // By structure, too (tensorflow_weights.h).
    kTensorFlow,
  };

  // Whether the dataset at `path` belongs to the model, not to its optimizer.
  bool IsOfModel(absl::string_view path) const;

  // What the file calls the dataset at `path`, safe to print: in a checkpoint
  // its key, else the path.
  std::string NameInFile(const std::string& path) const;

  // Where the variables of `model` are expected, which is that of `graph` or
  // one in it. Errors are those of LegacyWeightPaths, and Unimplemented for a
  // file of Keras 2 whose order of layers is not that of Keras 3.
  absl::StatusOr<std::vector<WeightPath>> Paths(const Graph& graph,
                                                const ModelTree& model) const;

  Format format = Format::kKeras;
  // What wrote it, if it says so and that matters.
  KerasRelease release = KerasRelease::k3;
  std::unique_ptr<RandomAccess> bytes;
  // By their paths in the newest release of Keras.
  Hdf5Index index;
  // TensorFlowWeights::variables of a checkpoint.
  std::map<std::string, CheckpointVariable> variables;
};

// `path`: also the prefix of a checkpoint's files. Errors name the file: those
// of KerasArchive, ReadHdf5Index, SafetensorsFile and OpenTensorFlowWeights.
// Blocks on the disk.
absl::StatusOr<WeightsFile> OpenWeightsFile(const std::string& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_WEIGHTS_FILE_H_
