// The variables of a model in a checkpoint of TensorFlow, "PREFIX.index" and
// its shards, as tf.train.Checkpoint and save_weights of Keras 2 write it.
#ifndef PACELINE_COMMON_KERAS_TENSORFLOW_WEIGHTS_H_
#define PACELINE_COMMON_KERAS_TENSORFLOW_WEIGHTS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hdf5/hdf5_index.h"
#include "common/keras/checkpoint_objects.h"
#include "common/keras/name_match.h"
#include "common/keras/weight_paths.h"
#include "common/model/graph.h"
#include "common/tensorflow_checkpoint/checkpoint_file.h"

namespace paceline {

// The file that a path of weights names: "PREFIX.index" for the PREFIX of a
// checkpoint, unless there is a file PREFIX, else the path as it is.
std::string WeightsFilePath(const std::string& path);

// Whether the file's name is that of a checkpoint's index.
bool IsCheckpointPath(const std::string& path);

// InvalidArgument with the prefix to name, if the path is of a checkpoint, but
// neither its prefix nor its index: a shard, the file `checkpoint` that names
// the last one of a folder, or the folder.
absl::Status CheckIsNoPartOfCheckpoint(const std::string& path);

struct TensorFlowWeights {
  // All shards.
  std::unique_ptr<CheckpointFile> data;
  // By CheckpointVariable::path, in the form of the other files of weights;
  // offsets are those in `data`.
  Hdf5Index index;
  // By path.
  std::map<std::string, CheckpointVariable> variables;
};

// `path`: of the index. Reads no variables, and compares no checksums
// (CheckpointFile::CheckTensor). Errors name the file, and the key in it: those
// of CheckpointFile::Open and FindModelVariables, InvalidArgument if it has no
// objects, Unimplemented for variables in parts. Blocks on the disk.
absl::StatusOr<TensorFlowWeights> OpenTensorFlowWeights(
    const std::string& path);

// Where a checkpoint has the variables of `model`, which is that of `graph` or
// one in it: CheckpointVariable::path.
std::vector<WeightPath> TensorFlowPaths(const Graph& graph,
                                        const ModelTree& model);

// The names of the variables in a checkpoint: those of `graph` where a layer of
// its model has the same name and such a variable.
std::vector<NamedWeight> TensorFlowNames(
    const Graph& graph, const Hdf5Index& index,
    const std::map<std::string, CheckpointVariable>& variables);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_TENSORFLOW_WEIGHTS_H_
