// The initial values that a model's variables have from Keras files.
#ifndef PACELINE_COMMON_KERAS_INITIAL_WEIGHTS_H_
#define PACELINE_COMMON_KERAS_INITIAL_WEIGHTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/keras/model_weights.h"
#include "common/model/graph.h"

namespace paceline {

// Not thread-safe. Errors are those of ModelWeights. Blocks on the disk.
class InitialWeights {
 public:
  // `path`: the file of the whole model. If it is empty, those of the models in
  // the model (ModelTree::path); variables of other layers then have none. Null
  // if no variable has one.
  static absl::StatusOr<std::unique_ptr<InitialWeights>> Open(
      const std::string& path, const Graph& graph);

  // Layers that `path` has under the same names; all else is as without it. See
  // ModelWeights::OpenByName.
  static absl::StatusOr<std::unique_ptr<InitialWeights>> OpenByName(
      const std::string& path, const Graph& graph, const Graph* own);

  // What matched by name; null unless opened so.
  const NameMatch* match() const { return match_; }

  // The file of the whole model; null if there is none, or if it was
  // opened by name.
  ModelWeights* whole() const { return whole_; }

  // Whether the variable, an index into Graph::variables, is in a file.
  bool Has(int variable) const { return file_of_[variable] != nullptr; }

  // As in ModelWeights. The variable must be in a file.
  template <typename T>
  absl::Status Read(int variable, int64_t begin, absl::Span<T> out) {
    return file_of_[variable]->Read(variable, begin, out);
  }
  template <typename T>
  absl::Status ReadSlot(int variable, int slot, int64_t begin,
                        absl::Span<T> out) {
    return file_of_[variable]->ReadSlot(variable, slot, begin, out);
  }

 private:
  explicit InitialWeights(size_t variable_count) : file_of_(variable_count) {}

  absl::Status Add(const std::string& path, const Graph& graph,
                   const ModelTree& model);
  absl::Status AddParts(const Graph& graph, const ModelTree& model);

  std::vector<std::unique_ptr<ModelWeights>> files_;
  ModelWeights* whole_ = nullptr;
  const NameMatch* match_ = nullptr;
  // By variable; null: none.
  std::vector<ModelWeights*> file_of_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_INITIAL_WEIGHTS_H_
