#include "worker/evaluation/stored_model.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/checkpoint/checkpoint_reader.h"
#include "common/checkpoint/trained_job.h"
#include "common/job/model_file.h"
#include "common/model/build_graph.h"

namespace paceline {
namespace {

absl::StatusOr<StoredModel> OpenCheckpoint(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string folder, FindLatestCheckpoint(path));
  ASSIGN_OR_RETURN(std::shared_ptr<CheckpointReader> reader,
                   CheckpointReader::Open(folder));
  ASSIGN_OR_RETURN(const v1::Job trained,
                   TrainedJobOf(folder, reader->manifest()));
  StoredModel model;
  ASSIGN_OR_RETURN(model.graph, BuildGraph(trained.model()));
  RETURN_IF_ERROR(reader->CheckFits(model.graph.variables, /*slot_names=*/{}));
  std::vector<std::string> names;
  for (const VariableSpec& variable : model.graph.variables) {
    names.push_back(variable.name);
  }
  model.read = [reader = std::move(reader), names = std::move(names)](
                   int variable, absl::Span<float> values) {
    return reader->Read(names[variable], /*slot=*/"", /*begin=*/0, values);
  };
  return model;
}

absl::StatusOr<StoredModel> OpenKerasFile(const std::string& path) {
  ASSIGN_OR_RETURN(ModelFile file, OpenModelFile(path));
  if (file.weights == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": has no weights, expected a .keras file, a legacy .h5 or a "
        "folder of checkpoints"));
  }
  return StoredModel{
      std::move(file.graph),
      [weights = std::shared_ptr<ModelWeights>(std::move(file.weights))](
          int variable, absl::Span<float> values) {
        return weights->Read(variable, /*begin=*/0, values);
      }};
}

}  // namespace

absl::StatusOr<StoredModel> OpenStoredModel(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? OpenCheckpoint(path)
                                                    : OpenKerasFile(path);
}

}  // namespace paceline
