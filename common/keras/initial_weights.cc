#include "common/keras/initial_weights.h"

#include <utility>

#include "absl/memory/memory.h"
#include "common/base/status_macros.h"
#include "common/keras/weight_paths.h"

namespace paceline {

absl::StatusOr<std::unique_ptr<InitialWeights>> InitialWeights::Open(
    const std::string& path, const Graph& graph) {
  auto weights = absl::WrapUnique(new InitialWeights(graph.variables.size()));
  if (path.empty()) {
    RETURN_IF_ERROR(weights->AddParts(graph, graph.tree));
  } else {
    RETURN_IF_ERROR(weights->Add(path, graph, graph.tree));
    weights->whole_ = weights->files_.front().get();
  }
  if (weights->files_.empty()) return nullptr;
  return weights;
}

absl::StatusOr<std::unique_ptr<InitialWeights>> InitialWeights::OpenByName(
    const std::string& path, const Graph& graph, const Graph* own) {
  auto weights = absl::WrapUnique(new InitialWeights(graph.variables.size()));
  RETURN_IF_ERROR(weights->AddParts(graph, graph.tree));
  ASSIGN_OR_RETURN(std::unique_ptr<ModelWeights> file,
                   ModelWeights::OpenByName(path, graph, own));
  for (size_t i = 0; i < weights->file_of_.size(); ++i) {
    if (file->Has(static_cast<int>(i))) weights->file_of_[i] = file.get();
  }
  weights->match_ = &file->match();
  weights->files_.push_back(std::move(file));
  return weights;
}

absl::Status InitialWeights::Add(const std::string& path, const Graph& graph,
                                 const ModelTree& model) {
  ASSIGN_OR_RETURN(std::unique_ptr<ModelWeights> file,
                   ModelWeights::Open(path, graph, model));
  for (const WeightPath& each : WeightPaths(model)) {
    file_of_[each.variable] = file.get();
  }
  files_.push_back(std::move(file));
  return absl::OkStatus();
}

absl::Status InitialWeights::AddParts(const Graph& graph,
                                      const ModelTree& model) {
  for (const ModelTree::Child& child : model.children) {
    if (child.model == nullptr || child.callee >= 0) continue;
    RETURN_IF_ERROR(child.model->path.empty()
                        ? AddParts(graph, *child.model)
                        : Add(child.model->path, graph, *child.model));
  }
  return absl::OkStatus();
}

}  // namespace paceline
