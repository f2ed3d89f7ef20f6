// A file with the weights of a model: `.keras`, `.weights.h5`, legacy `.h5`,
// `.safetensors` or a checkpoint of TensorFlow. Formats differ in where they
// have a variable.
#ifndef PACELINE_COMMON_KERAS_WEIGHTS_FILE_H_
#define PACELINE_COMMON_KERAS_WEIGHTS_FILE_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/random_access.h"
#include "common/hdf5/hdf5_index.h"
#include "common/keras/checkpoint_objects.h"
#include "common/keras/legacy_slots.h"
#include "common/keras/weight_paths.h"
#include "common/model/graph.h"
#include "common/tensorflow_checkpoint/checkpoint_file.h"

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

  // Whether it belongs to the optimizer.
  bool IsOfOptimizer(absl::string_view path) const;

  // Whether slots are found by the variables that they belong to, and not by
  // number (slot_paths.h).
  bool has_named_slots() const { return named_slot_count > 0; }
  // If so: where the slot is, as Optimizer::slot_names calls it, of the
  // variable that is at `variable_path`; "": nowhere.
  std::string SlotPathOf(const std::string& variable_path,
                         absl::string_view slot) const;

  // What the file calls the dataset at `path`, safe to print: in a checkpoint
  // its key, else the path.
  std::string NameInFile(const std::string& path) const;

  // Where the variables of `model` are expected, which is that of `graph` or
  // one in it. Errors are those of LegacyWeightPaths and CheckOrder.
  absl::StatusOr<std::vector<WeightPath>> Paths(const Graph& graph,
                                                const ModelTree& model) const;

  // Compares the checksum of the dataset at `path` in the index, of numbers, if
  // the format has one of each: whoever takes a part of it later cannot. Reads
  // all of it. Errors are those of CheckpointFile::CheckTensor.
  absl::Status CheckValues(const std::string& path) const;

  // Of a format by structure: Unimplemented if Keras 2, which may have written
  // the file, orders the layers of `model` otherwise than Keras 3. Then reads
  // the archive's metadata.
  absl::Status CheckOrder(const ModelTree& model) const;

  Format format = Format::kKeras;
  // The path of a `.keras`; "": it is HDF5 alone, or of another format.
  std::string archive;
  std::unique_ptr<RandomAccess> bytes;
  // By their paths in the newest release of Keras.
  Hdf5Index index;
  // Of a checkpoint: `bytes`, and TensorFlowWeights::variables.
  CheckpointFile* checkpoint = nullptr;
  std::map<std::string, CheckpointVariable> variables;
  // Of a legacy file.
  LegacySlots legacy_slots;
  size_t named_slot_count = 0;
};

// `path`: also the prefix of a checkpoint's files. Errors name the file: those
// of KerasArchive, ReadHdf5Index, SafetensorsFile and OpenTensorFlowWeights.
// Blocks on the disk.
absl::StatusOr<WeightsFile> OpenWeightsFile(const std::string& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_WEIGHTS_FILE_H_
