// The variables of a model in a safetensors file, as `coordinator export
// --format safetensors` writes it: tensors by the names of layers and
// variables, "conv2d/kernel", in a model in the model "base/conv2d/kernel".
#ifndef PACELINE_COMMON_KERAS_SAFETENSORS_WEIGHTS_H_
#define PACELINE_COMMON_KERAS_SAFETENSORS_WEIGHTS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/random_access.h"
#include "common/hdf5/hdf5_index.h"
#include "common/keras/weight_paths.h"
#include "common/model/graph.h"

namespace paceline {

// Whether the file's name is that of a safetensors file.
bool IsSafetensorsPath(absl::string_view path);

struct TensorFile {
  // The data of all tensors.
  std::unique_ptr<RandomAccess> data;
  // By name, in the form of the other files of weights; offsets are those in
  // `data`.
  Hdf5Index index;
};

// Errors are those of SafetensorsFile::Open. Blocks on the disk.
absl::StatusOr<TensorFile> OpenTensors(const std::string& path);

// The tensors of the variables of `model`, which is that of `graph` or one in
// it.
std::vector<WeightPath> TensorPaths(const Graph& graph, const ModelTree& model);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_SAFETENSORS_WEIGHTS_H_
