#include "common/job/model_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/config/json_reader.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/job/device_name.h"
#include "common/job/job_fields.h"
#include "common/job/job_files.h"
#include "common/job/job_model.h"
#include "common/keras/keras_archive.h"
#include "common/keras/legacy_h5.h"
#include "common/keras/model_config.h"
#include "common/keras/safetensors_weights.h"
#include "common/keras/tensorflow_weights.h"
#include "common/limits.h"
#include "common/model/build_graph.h"
#include "common/model/graph.h"
#include "common/model/nested_model.h"

namespace paceline {
namespace {

constexpr char kModelKey[] = "model";
constexpr char kPrecisionKey[] = "precision";

struct Loaded {
  ModelConfig config;
  v1::Model model;
  Graph graph;
};

// Whether it is what Keras' to_json() gives: a model without weights.
bool IsJson(absl::string_view path) { return absl::EndsWith(path, ".json"); }

bool IsLegacyPath(absl::string_view path) {
  return absl::EndsWith(path, ".h5") || absl::EndsWith(path, ".hdf5");
}

// Whether it is `weights`, but no model.
bool HasWeightsAlone(const std::string& path) {
  return IsSafetensorsPath(path) || IsCheckpointPath(WeightsFilePath(path));
}

// Whether only its own config says what the layers of a file are called.
bool NeedsConfig(const std::string& path) {
  return !IsJson(path) && !IsLegacyPath(path) && !HasWeightsAlone(path);
}

// Where errors in the model's config are.
std::string PlaceOfConfig(const std::string& path) {
  return IsJson(path) || IsLegacyPath(path)
             ? path
             : absl::StrCat(path, ": ", kConfigMember);
}

absl::StatusOr<Value> ReadConfig(const std::string& path) {
  if (IsJson(path)) {
    ASSIGN_OR_RETURN(const std::string text,
                     ReadFile(path, limits::kMaxModelConfigBytes));
    return ReadJson(text, path, limits::kMaxModelConfigBytes);
  }
  if (IsLegacyPath(path)) return ReadLegacyConfig(path);
  if (HasWeightsAlone(path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": has weights alone, expected a file of a whole model; this one can "
        "be the job's `weights`"));
  }
  ASSIGN_OR_RETURN(const KerasArchive archive, KerasArchive::Open(path));
  return archive.ReadConfig();
}

// The model and what it was compiled with. Checks that we know its layers.
absl::StatusOr<Loaded> ReadModelFile(const std::string& path) {
  ASSIGN_OR_RETURN(Value config, ReadConfig(path));
  const auto in_file = [&path](const absl::Status& status) {
    return Annotate(status, PlaceOfConfig(path));
  };
  absl::StatusOr<ModelConfig> read = ReadModelConfig(std::move(config), Path());
  if (!read.ok()) return in_file(read.status());
  absl::StatusOr<v1::Model> model =
      FieldsOf(static_cast<const v1::Model*>(nullptr))
          .Read(read->model, Path(kModelKey));
  if (!model.ok()) return in_file(model.status());
  absl::StatusOr<Graph> graph = BuildGraph(*model);
  if (!graph.ok()) return in_file(graph.status());
  return Loaded{*std::move(read), *std::move(model), *std::move(graph)};
}

// Gives what was taken from a file the line of the job that names it.
void SetLines(int line, Value& value) {
  value.set_line(line);
  if (value.is_list()) {
    for (Value& each : value.as_list()) SetLines(line, each);
  } else if (value.is_map()) {
    for (Value::Entry& each : value.as_map()) {
      each.line = line;
      SetLines(line, each.value);
    }
  }
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
  SetLines(line, document[key]);
  return true;
}

// The precision of a file's layers, unless the job names a device without it:
// that computes in float32, as it does under `device: auto`.
absl::StatusOr<Value> PrecisionOn(const Value& document,
                                  const Value& precision) {
  const Value* const device = document.Find("device");
  if (precision.is_null() || device == nullptr || !device->is_string()) {
    return precision;
  }
  v1::Precision known = v1::PRECISION_UNSPECIFIED;
  RETURN_IF_ERROR(
      Codec<v1::Precision>::Read(precision, Path(kPrecisionKey), known));
  const absl::StatusOr<DeviceName> name = ParseDeviceName(device->as_string());
  return !name.ok() || MayHavePrecision(name->kind, known) ? precision
                                                           : Value();
}

// The config of a Model among layers; null if `layer` is another or spelled
// wrong.
Value* ConfigOfModel(Value& layer) {
  if (!layer.is_map()) return nullptr;
  Value* config = nullptr;
  if (const Value* name = layer.Find("class_name"); name != nullptr) {
    if (*name == Value(NestedModel::kClassName)) config = &layer["config"];
  } else if (layer.Find(NestedModel::kClassName) != nullptr) {
    config = &layer[NestedModel::kClassName];
  }
  return config != nullptr && config->is_map() ? config : nullptr;
}

bool HasModelInModel(const v1::Model& model) {
  return std::any_of(model.layers().begin(), model.layers().end(),
                     [](const v1::KerasObject& layer) {
                       return layer.class_name() == NestedModel::kClassName;
                     });
}

// Reads the model's file that the job names in `field`, if it may be read.
absl::StatusOr<Loaded> ReadNamedFile(const std::string& job_path,
                                     const Path& field, const std::string& path,
                                     const FileCheck& may_read) {
  RETURN_IF_ERROR(CheckUrl({field, path}));
  const std::string absolute = AbsolutePath(job_path, path);
  if (may_read != nullptr) RETURN_IF_ERROR(may_read({field, absolute}));
  return ReadModelFile(absolute);
}

// Gives the models among the layers of `model` the layers of their files, which
// it adds to `files`.
absl::Status LoadInnerModels(const std::string& job_path,
                             const FileCheck& may_read, const Path& path,
                             bool has_precision, Value& model,
                             std::vector<JobFile>& files) {
  if (!model.is_map() || model.Find("layers") == nullptr) {
    return absl::OkStatus();
  }
  Value& layers = model["layers"];
  if (!layers.is_list()) return absl::OkStatus();
  for (size_t i = 0; i < layers.as_list().size(); ++i) {
    Value* const config = ConfigOfModel(layers.as_list()[i]);
    if (config == nullptr) continue;
    const Path inner = path.Key("layers").Index(i);
    const Value* const file = config->Find("path");
    if (config->Find("layers") == nullptr && file != nullptr &&
        file->is_string()) {
      const int line = file->line();
      files.push_back({inner.Key("path"), file->as_string()});
      absl::StatusOr<Loaded> loaded = ReadNamedFile(
          job_path, inner.Key("path"), file->as_string(), may_read);
      if (!loaded.ok()) {
        return ConfigError(inner.Key("path"), loaded.status().message(),
                           loaded.status().code());
      }
      if (!has_precision && !loaded->config.precision.is_null()) {
        return ConfigError(
            inner.Key("path"),
            absl::StrCat("the layers of the file are ",
                         loaded->config.precision.as_string(),
                         "; expected the job's `precision`, which is that of "
                         "all layers"));
      }
      if (config->Find("name") == nullptr) {
        (*config)["name"] = loaded->model.name();
      }
      for (Value::Entry& entry : loaded->config.model.as_map()) {
        const bool is_wanted =
            entry.key == "layers" ||
            (entry.key == "outputs" && config->Find("outputs") == nullptr);
        if (!is_wanted) continue;
        SetLines(line, entry.value);
        (*config)[entry.key] = std::move(entry.value);
      }
      if (IsJson((*config)["path"].as_string())) (*config)["path"] = "";
    } else {
      RETURN_IF_ERROR(LoadInnerModels(job_path, may_read, inner, has_precision,
                                      *config, files));
    }
  }
  return absl::OkStatus();
}

// Whether the optimizer of the model's file goes on with the state that
// `weights` has: those of the same file, or a checkpoint of TensorFlow, which
// does not say what the optimizer is.
bool MayGoOn(const TakenFromFile& taken, const std::string& weights) {
  return weights == taken.weights || IsCheckpointPath(WeightsFilePath(weights));
}

// Has the job's LossScaleOptimizer go on with the state in the file.
absl::Status TakeLossScale(ModelWeights& weights, v1::Job& job) {
  ASSIGN_OR_RETURN(const std::optional<ModelWeights::LossScaleState> state,
                   weights.ReadLossScale());
  if (!state) return absl::OkStatus();
  auto& fields = *job.mutable_optimizer()->mutable_config()->mutable_fields();
  fields["dynamic_scale"].set_number_value(state->scale);
  fields["step_counter"].set_number_value(static_cast<double>(state->steps));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<InitialWeights>> OpenByName(
    const std::string& path, const Graph& graph) {
  if (!NeedsConfig(path)) {
    return InitialWeights::OpenByName(path, graph, /*own=*/nullptr);
  }
  ASSIGN_OR_RETURN(const Loaded loaded, ReadModelFile(path));
  return InitialWeights::OpenByName(path, graph, &loaded.graph);
}

}  // namespace

absl::StatusOr<TakenFromFile> LoadModelFile(const std::string& job_path,
                                            const FileCheck& may_read,
                                            Value& document) {
  TakenFromFile taken;
  const Value* const model =
      document.is_map() ? document.Find(kModelKey) : nullptr;
  if (model == nullptr) return taken;
  if (!model->is_string()) {
    RETURN_IF_ERROR(LoadInnerModels(job_path, may_read, Path(kModelKey),
                                    document.Find(kPrecisionKey) != nullptr,
                                    document[kModelKey], taken.files));
    return taken;
  }
  const int line = model->line();
  taken.files.push_back({Path(kModelKey), model->as_string()});
  const std::string path = AbsolutePath(job_path, model->as_string());
  const auto at_model = [](const absl::Status& status) {
    return ConfigError(Path(kModelKey), status.message(), status.code());
  };
  absl::StatusOr<Loaded> loaded =
      ReadNamedFile(job_path, Path(kModelKey), model->as_string(), may_read);
  if (!loaded.ok()) return at_model(loaded.status());
  ModelConfig& read = loaded->config;
  document[kModelKey] = std::move(read.model);
  SetLines(line, document[kModelKey]);
  std::pair<std::string, absl::StatusOr<Value>> items[] = {
      {"loss", std::move(read.compile.loss)},
      {"loss_weights", std::move(read.compile.loss_weights)},
      {"metrics", std::move(read.compile.metrics)},
      {"weighted_metrics", std::move(read.compile.weighted_metrics)},
      {"weights", IsJson(path) ? Value() : Value(path)},
      {kPrecisionKey, PrecisionOn(document, read.precision)},
      {"optimizer", std::move(read.compile.optimizer)}};
  for (auto& [key, value] : items) {
    const absl::StatusOr<bool> is_set =
        SetUnlessGiven(key, std::move(value), line, document);
    if (!is_set.ok()) {
      return at_model(Annotate(is_set.status(), PlaceOfConfig(path)));
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
  file.graph = std::move(loaded.graph);
  if (IsJson(path)) return file;
  ASSIGN_OR_RETURN(file.weights,
                   ModelWeights::Open(path, file.graph, file.graph.tree));
  return file;
}

absl::Status CheckWeights(const TakenFromFile& taken, v1::Job& job) {
  if (job.weights().empty() && !HasModelInModel(job.model())) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const Graph graph, BuildGraph(job.model()));
  ASSIGN_OR_RETURN(const std::unique_ptr<InitialWeights> weights,
                   OpenWeights(job, graph));
  if (job.weights_by_name() || job.weights().empty() ||
      !MayGoOn(taken, job.weights()) ||
      job.optimizer().class_name() != taken.optimizer_class) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const int64_t iterations,
                   weights->whole()->ReadIterations());
  if (iterations == 0) return absl::OkStatus();
  job.set_initial_iterations(static_cast<uint64_t>(iterations));
  ASSIGN_OR_RETURN(const std::unique_ptr<const Optimizer> optimizer,
                   MakeJobOptimizer(job, graph));
  if (optimizer->loss_scaling) {
    RETURN_IF_ERROR(TakeLossScale(*weights->whole(), job));
  }
  return weights->whole()->FindSlots(graph, *optimizer);
}

absl::StatusOr<std::unique_ptr<InitialWeights>> OpenWeights(
    const v1::Job& job, const Graph& graph) {
  if (job.weights_by_name()) {
    if (job.initial_iterations() == 0) return OpenByName(job.weights(), graph);
    return ConfigError(
        Path("weights_by_name"),
        absl::StrCat("is true, so that the optimizer begins anew, but it is to "
                     "go on from ",
                     job.initial_iterations(), " updates"));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<InitialWeights> weights,
                   InitialWeights::Open(job.weights(), graph));
  if (job.initial_iterations() > 0 && weights != nullptr &&
      weights->whole() != nullptr) {
    ASSIGN_OR_RETURN(const std::unique_ptr<const Optimizer> optimizer,
                     MakeJobOptimizer(job, graph));
    RETURN_IF_ERROR(weights->whole()->FindSlots(graph, *optimizer));
  }
  return weights;
}

}  // namespace paceline
