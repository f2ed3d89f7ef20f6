#include "common/job/model_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/job/job_fields.h"
#include "common/job/job_files.h"
#include "common/job/job_model.h"
#include "common/keras/keras_archive.h"
#include "common/keras/model_config.h"
#include "common/model/graph.h"

namespace paceline {
namespace {

constexpr char kModelKey[] = "model";

struct Loaded {
  ModelConfig config;
  v1::Model model;
  Graph graph;
};

// The model and what it was compiled with. Checks that we know its layers.
absl::StatusOr<Loaded> ReadModelFile(const std::string& path) {
  ASSIGN_OR_RETURN(const KerasArchive archive, KerasArchive::Open(path));
  ASSIGN_OR_RETURN(const Value config, archive.ReadConfig());
  const auto in_file = [&path](const absl::Status& status) {
    return Annotate(status, absl::StrCat(path, ": ", kConfigMember));
  };
  absl::StatusOr<ModelConfig> read = ReadModelConfig(config, Path());
  if (!read.ok()) return in_file(read.status());
  absl::StatusOr<v1::Model> model =
      FieldsOf(static_cast<const v1::Model*>(nullptr))
          .Read(read->model, Path(kModelKey));
  if (!model.ok()) return in_file(model.status());
  absl::StatusOr<Graph> graph = BuildGraph(*model);
  if (!graph.ok()) return in_file(graph.status());
  return Loaded{*std::move(read), *std::move(model), *std::move(graph)};
}

// Sets what the job does not say; errors in it have the line of the model.
// Returns whether it was set.
absl::StatusOr<bool> SetUnlessGiven(absl::string_view key,
                                    absl::StatusOr<Value> value, int line,
                                    Value& document) {
  if (document.Find(key) != nullptr) return false;
  if (!value.ok()) return value.status();
  if (value->is_null()) return false;
  document[key] = *std::move(value);
  document.as_map().back().line = line;
  document[key].set_line(line);
  return true;
}

}  // namespace

absl::StatusOr<TakenFromFile> LoadModelFile(const std::string& job_path,
                                            Value& document) {
  TakenFromFile taken;
  const Value* const model =
      document.is_map() ? document.Find(kModelKey) : nullptr;
  if (model == nullptr || !model->is_string()) return taken;
  const int line = model->line();
  const std::string path = AbsolutePath(job_path, model->as_string());
  const auto at_model = [](const absl::Status& status) {
    return ConfigError(Path(kModelKey), status.message(), status.code());
  };
  absl::StatusOr<Loaded> loaded = ReadModelFile(path);
  if (!loaded.ok()) return at_model(loaded.status());
  ModelConfig& read = loaded->config;
  document[kModelKey] = std::move(read.model);
  document[kModelKey].set_line(line);
  std::pair<std::string, absl::StatusOr<Value>> items[] = {
      {"loss", std::move(read.loss)},
      {"metrics", std::move(read.metrics)},
      {"weights", Value(path)},
      {"optimizer", std::move(read.optimizer)}};
  for (auto& [key, value] : items) {
    const absl::StatusOr<bool> is_set =
        SetUnlessGiven(key, std::move(value), line, document);
    if (!is_set.ok()) {
      return at_model(
          Annotate(is_set.status(), absl::StrCat(path, ": ", kConfigMember)));
    }
    if (!*is_set) continue;
    if (key == "weights") taken.weights = path;
    if (key == "optimizer") {
      ASSIGN_OR_RETURN(const KerasObject object,
                       ReadKerasObject(*document.Find(key), Path(key)));
      taken.optimizer_class = object.class_name;
    }
  }
  return taken;
}

absl::StatusOr<ModelFile> OpenModelFile(const std::string& path) {
  ASSIGN_OR_RETURN(Loaded loaded, ReadModelFile(path));
  ModelFile file;
  file.name = loaded.model.name();
  file.is_sequential = IsSequential(loaded.model);
  file.graph = std::move(loaded.graph);
  ASSIGN_OR_RETURN(file.weights,
                   ModelWeights::Open(path, file.graph, file.is_sequential));
  return file;
}

absl::Status CheckWeights(const TakenFromFile& taken, v1::Job& job) {
  if (job.weights().empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Graph graph, BuildGraph(job.model()));
  ASSIGN_OR_RETURN(const std::unique_ptr<ModelWeights> weights,
                   OpenWeights(job, graph));
  if (job.weights() != taken.weights ||
      job.optimizer().class_name() != taken.optimizer_class) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const int64_t iterations, weights->ReadIterations());
  if (iterations == 0) return absl::OkStatus();
  job.set_initial_iterations(static_cast<uint64_t>(iterations));
  ASSIGN_OR_RETURN(const std::unique_ptr<const Optimizer> optimizer,
                   MakeJobOptimizer(job));
  return weights->FindSlots(graph, IsSequential(job.model()), *optimizer);
}

absl::StatusOr<std::unique_ptr<ModelWeights>> OpenWeights(const v1::Job& job,
                                                          const Graph& graph) {
  if (job.weights().empty()) return nullptr;
  const bool is_sequential = IsSequential(job.model());
  ASSIGN_OR_RETURN(std::unique_ptr<ModelWeights> weights,
                   ModelWeights::Open(job.weights(), graph, is_sequential));
  if (job.initial_iterations() > 0) {
    ASSIGN_OR_RETURN(const std::unique_ptr<const Optimizer> optimizer,
                     MakeJobOptimizer(job));
    RETURN_IF_ERROR(weights->FindSlots(graph, is_sequential, *optimizer));
  }
  return weights;
}

}  // namespace paceline
