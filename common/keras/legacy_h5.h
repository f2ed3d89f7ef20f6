// Keras' legacy HDF5 files: whole models (`.h5` of Keras 2 and 3) and weights
// alone (`.h5` of Keras 2).
//
//   attributes          model_config, training_config, both JSON
//   model_weights/      a group for each layer of the model, by its name, with
//                       the variables by theirs: conv2d/conv2d/kernel:0; a
//                       model in the model is one group. In files of weights
//                       alone these groups lie at the root
//   optimizer_weights/  the state of the optimizer (legacy_slots.h)
#ifndef PACELINE_COMMON_KERAS_LEGACY_H5_H_
#define PACELINE_COMMON_KERAS_LEGACY_H5_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/config/value.h"
#include "common/hdf5/hdf5_index.h"
#include "common/keras/name_match.h"
#include "common/keras/weight_paths.h"
#include "common/model/graph.h"

namespace paceline {

// Attributes of the root, both JSON.
inline constexpr char kModelAttribute[] = "model_config";
inline constexpr char kTrainingAttribute[] = "training_config";

// The model and what it was compiled with, in the form of config.json in a
// `.keras` file. Errors name the file: those of ReadHdf5Texts, and
// InvalidArgument if it has no model. Blocks on the disk.
absl::StatusOr<Value> ReadLegacyConfig(const std::string& path);

// Whether these are the datasets of a legacy file, not of a `.weights.h5`.
bool IsLegacy(const Hdf5Index& index);

// Whether a dataset of a legacy file belongs to the model.
bool IsLegacyWeight(const Hdf5Index& index, absl::string_view path);

// What a legacy file calls its variable at `path`: "conv2d/kernel:0".
std::string LegacyVariableName(const Hdf5Index& index, absl::string_view path);

// Where a legacy file has the variables of `model`, which is that of `graph` or
// one in it: by the names of its layers. A variable that is not there has the
// path where it is expected. InvalidArgument if two datasets fit.
absl::StatusOr<std::vector<WeightPath>> LegacyWeightPaths(
    const Graph& graph, const ModelTree& model, const Hdf5Index& index);

// The names of the variables that a legacy file has: those of `graph` where
// they are its, so it takes what LegacyWeightPaths finds. Errors are those of
// LegacyWeightPaths.
absl::StatusOr<std::vector<NamedWeight>> LegacyNames(const Graph& graph,
                                                     const Hdf5Index& index);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_LEGACY_H5_H_
