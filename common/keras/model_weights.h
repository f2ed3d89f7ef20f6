// The variables of a model in a file of Keras: `.keras`, `.weights.h5` or a
// legacy `.h5`.
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
#include "common/base/random_access.h"
#include "common/hdf5/hdf5_index.h"
#include "common/keras/model_summary.h"
#include "common/model/graph.h"
#include "common/optimizer/optimizer.h"

namespace paceline {

// Variables are found by the structure of the model, as Keras finds them
// (weight_paths.h), and by the names of layers only in a legacy file
// (legacy_h5.h), whose optimizer is not read. Not thread-safe. Errors name the
// file, and the path in it. Blocks on the disk.
class ModelWeights {
 public:
  // The variables of `model`, which is that of `graph` or one in it.
  // InvalidArgument unless the file has exactly these, with their shapes; else
  // the errors of KerasArchive and ReadHdf5Index.
  static absl::StatusOr<std::unique_ptr<ModelWeights>> Open(
      const std::string& path, const Graph& graph, const ModelTree& model);

  // Number of updates that the file's optimizer has made; 0 if it has none.
  absl::StatusOr<int64_t> ReadIterations();

  // The file's optimizer: its slots and its numbers; nullopt if it has none.
  std::optional<ParameterCount> OptimizerSize() const;

  // Finds the slots of `optimizer`, which must be of the class that wrote the
  // file, if that was opened for all of the graph. InvalidArgument unless the
  // file has exactly its variables, with the shapes of those that they belong
  // to.
  absl::Status FindSlots(const Graph& graph, const Optimizer& optimizer);
  bool has_slots() const { return !slots_.empty(); }

  // Reads elements of a variable of the model, an index into Graph::variables,
  // from element `begin` on. The range must lie within the variable. Converts
  // what is stored to the type of `out`.
  absl::Status Read(int variable, int64_t begin, absl::Span<float> out);
  absl::Status Read(int variable, int64_t begin, absl::Span<double> out);

  // The same for a slot, after FindSlots. Leaves `out` as it is if the
  // optimizer does not use the slot for this variable.
  absl::Status ReadSlot(int variable, int slot, int64_t begin,
                        absl::Span<float> out);
  absl::Status ReadSlot(int variable, int slot, int64_t begin,
                        absl::Span<double> out);

 private:
  ModelWeights(std::string path, std::unique_ptr<RandomAccess> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  absl::Status FindVariables(const Graph& graph, const ModelTree& model);
  // The dataset at `path`, which must have this shape; `name`: in errors.
  absl::StatusOr<Hdf5Dataset> Find(const std::string& path,
                                   const std::string& name,
                                   const Shape& shape) const;

  const std::string path_;
  const std::unique_ptr<RandomAccess> file_;
  Hdf5Index index_;
  // By variable.
  std::vector<Hdf5Dataset> variables_;
  // By variable and slot.
  std::map<std::pair<int, int>, Hdf5Dataset> slots_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_MODEL_WEIGHTS_H_
