// The variables of a model in a file of Keras (`.keras`, `.weights.h5` or a
// legacy `.h5`), in a `.safetensors` or in a checkpoint of TensorFlow.
#ifndef PACELINE_COMMON_KERAS_MODEL_WEIGHTS_H_
#define PACELINE_COMMON_KERAS_MODEL_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/hdf5/hdf5_index.h"
#include "common/keras/model_summary.h"
#include "common/keras/name_match.h"
#include "common/keras/weights_file.h"
#include "common/model/graph.h"
#include "common/optimizer/optimizer.h"

namespace paceline {

// Variables are found by the structure of the model, as Keras finds them
// (weight_paths.h, tensorflow_weights.h), and by the names of layers only in a
// legacy file (legacy_h5.h) and in a `.safetensors` (safetensors_weights.h).
// A `.safetensors` has no optimizer. Not thread-safe.
// Errors name the file, and the path in it. Blocks on the disk.
class ModelWeights {
 public:
  // The variables of `model`, which is that of `graph` or one in it.
  // InvalidArgument unless the file has exactly these, with their shapes; else
  // the errors of OpenWeightsFile.
  static absl::StatusOr<std::unique_ptr<ModelWeights>> Open(
      const std::string& path, const Graph& graph, const ModelTree& model);

  // The layers of `graph` that the file has under the same names
  // (name_match.h). `own`: the model that a `.keras` file has, in which names
  // of layers are found; null of other files. InvalidArgument if no layer
  // matches, if it is a `.weights.h5`, or if it does not fit `own`; else the
  // errors of OpenWeightsFile.
  static absl::StatusOr<std::unique_ptr<ModelWeights>> OpenByName(
      const std::string& path, const Graph& graph, const Graph* own);

  // Whether the file has the variable, an index into Graph::variables.
  bool Has(int variable) const { return variables_[variable].has_value(); }

  // After OpenByName: what matched.
  const NameMatch& match() const { return match_; }

  // Number of updates that the file's optimizer has made; 0 if it has none.
  absl::StatusOr<int64_t> ReadIterations();

  // The state of the file's LossScaleOptimizer; nullopt if it has none.
  struct LossScaleState {
    double scale = 0;
    // Since the scale changed.
    int64_t steps = 0;
  };
  absl::StatusOr<std::optional<LossScaleState>> ReadLossScale();

  // The file's optimizer: its slots and its numbers; nullopt if it has none.
  std::optional<ParameterCount> OptimizerSize() const;

  // Finds the slots of `optimizer`, which must be of the class that wrote the
  // file, if that was opened for all of the graph. InvalidArgument unless the
  // file has exactly its variables, with the shapes of those that they belong
  // to.
  absl::Status FindSlots(const Graph& graph, const Optimizer& optimizer);
  bool has_slots() const { return !slots_.empty(); }

  // Reads elements of a variable that the file has, an index into
  // Graph::variables, from element `begin` on. The range must lie within the
  // variable. Converts what is stored to the type of `out`.
  absl::Status Read(int variable, int64_t begin, absl::Span<float> out);
  absl::Status Read(int variable, int64_t begin, absl::Span<double> out);

  // The same for a slot, after FindSlots. Leaves `out` as it is if the
  // optimizer does not use the slot for this variable.
  absl::Status ReadSlot(int variable, int slot, int64_t begin,
                        absl::Span<float> out);
  absl::Status ReadSlot(int variable, int slot, int64_t begin,
                        absl::Span<double> out);

 private:
  ModelWeights(std::string path, WeightsFile file)
      : path_(std::move(path)), file_(std::move(file)) {}

  absl::Status FindVariables(const Graph& graph, const ModelTree& model);
  absl::Status FindNamedSlots(const Graph& graph, const Optimizer& optimizer);
  absl::Status FindByName(const Graph& graph, const Graph* own);
  absl::StatusOr<std::vector<NamedWeight>> NamesInFile(const Graph& graph,
                                                       const Graph* own);
  // The number of calls at `path`; nullopt if there is none.
  absl::StatusOr<std::optional<int64_t>> ReadCount(absl::string_view path);
  // The dataset at `path`, which must have this shape; `name`: in errors.
  absl::StatusOr<Hdf5Dataset> Find(const std::string& path,
                                   const std::string& name,
                                   const Shape& shape) const;

  const std::string path_;
  const WeightsFile file_;
  // By variable; nullopt: not in the file.
  std::vector<std::optional<Hdf5Dataset>> variables_;
  NameMatch match_;
  // By variable and slot.
  std::map<std::pair<int, int>, Hdf5Dataset> slots_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_MODEL_WEIGHTS_H_
