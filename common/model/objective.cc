#include "common/model/objective.h"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "common/model/class_weights.h"
#include "common/model/loss_input.h"
#include "common/model/metrics/mean_loss.h"
#include "common/tensor/class_ids.h"
#include "google/protobuf/map.h"

namespace paceline {
namespace {

using ConstMetricPtr = std::unique_ptr<const Metric>;

constexpr char kLossKey[] = "loss";
constexpr char kMetricsKey[] = "metrics";
constexpr char kWeightedMetricsKey[] = "weighted_metrics";
constexpr char kLossWeightsKey[] = "loss_weights";

// The status with the path in front, if it is an error.
absl::Status At(const Path& path, const absl::Status& status) {
  return status.ok() ? status
                     : ConfigError(path, status.message(), status.code());
}

// The names of the model's outputs: `"digit", "parity"`.
std::string OutputNames(const Graph& graph) {
  std::vector<std::string> names;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    names.push_back(Excerpt(Value(graph.output_name(i))));
  }
  return absl::StrJoin(names, ", ");
}

// Checks that the keys of a map are names of outputs.
template <typename T>
absl::Status CheckNames(const google::protobuf::Map<std::string, T>& map,
                        const Graph& graph, const Path& path) {
  std::set<std::string> known;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    known.insert(graph.output_name(i));
  }
  // In order, so that each process gives the same error.
  std::set<std::string> names;
  for (const auto& [name, unused] : map) names.insert(name);
  for (const std::string& name : names) {
    if (known.contains(name)) continue;
    return ConfigError(path.Key(name),
                       absl::StrCat("the model has no such output; expected ",
                                    OutputNames(graph)));
  }
  return absl::OkStatus();
}

// The loss of an output by its name; null: it has none.
const v1::KerasObject* FindLossOf(const v1::Job& job, const std::string& name) {
  if (job.named_losses().empty()) return &job.loss();
  const auto named = job.named_losses().find(name);
  return named == job.named_losses().end() ? nullptr : &named->second;
}

// Checks that the outputs can be told apart, and that some have a loss.
absl::Status CheckOutputs(const v1::Job& job, const Graph& graph) {
  RETURN_IF_ERROR(CheckNames(job.named_losses(), graph, Path(kLossKey)));
  RETURN_IF_ERROR(CheckNames(job.named_metrics(), graph, Path(kMetricsKey)));
  RETURN_IF_ERROR(CheckNames(job.named_weighted_metrics(), graph,
                             Path(kWeightedMetricsKey)));
  RETURN_IF_ERROR(CheckNames(job.loss_weights(), graph, Path(kLossWeightsKey)));
  if (!job.has_loss() && job.named_losses().empty()) {
    return ConfigError(
        Path(kLossKey),
        absl::StrCat("missing; expected a loss of at least one of the outputs ",
                     OutputNames(graph)));
  }
  if (graph.outputs.size() == 1) return absl::OkStatus();
  if (!job.class_weight().empty()) {
    return ConfigError(Path("class_weight"),
                       "expected a model with one output, as in Keras");
  }
  std::set<std::string> seen;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::string& name = graph.output_name(i);
    if (!seen.insert(name).second) {
      return ConfigError(
          Path("model").Key("outputs"),
          absl::StrCat("has two outputs of the layer ", Excerpt(Value(name)),
                       "; expected one, since losses and metrics go by the "
                       "names of layers"));
    }
  }
  if (job.named_losses().empty()) {
    return ConfigError(
        Path(kLossKey),
        absl::StrCat("expected a map with the losses of the outputs ",
                     OutputNames(graph), ", got one loss"));
  }
  if (job.metrics().empty() && job.weighted_metrics().empty()) {
    return absl::OkStatus();
  }
  return ConfigError(
      Path(job.metrics().empty() ? kWeightedMetricsKey : kMetricsKey),
      absl::StrCat("expected a map with a list for each of the outputs ",
                   OutputNames(graph), ", got one list"));
}

// Where the job has what it says of an output.
Path PathOf(const char* key, bool is_named, const std::string& output) {
  return is_named ? Path(key).Key(output) : Path(key);
}

MetricObjects ObjectsOf(
    const google::protobuf::RepeatedPtrField<v1::KerasObject>& of_only_output,
    const google::protobuf::Map<std::string, v1::MetricList>& named,
    const char* key, const std::string& output) {
  const auto of_output = named.find(output);
  const bool is_named = of_output != named.end();
  return {is_named ? of_output->second.metrics() : of_only_output,
          PathOf(key, is_named, output)};
}

Path PathOfLoss(const v1::Job& job, const Graph& graph, size_t output) {
  const std::string& name = graph.output_name(output);
  return PathOf(kLossKey, job.named_losses().contains(name), name);
}

// Its own loss, as a metric.
absl::StatusOr<ConstMetricPtr> MeanLossOf(const v1::Job& job,
                                          const Graph& graph, size_t output) {
  ASSIGN_OR_RETURN(std::unique_ptr<const Loss> loss,
                   MakeLossOf(job, graph, output));
  auto mean =
      std::make_unique<MeanLoss>(std::move(loss), /*is_output_loss=*/true);
  mean->name = absl::StrCat(graph.output_name(output), "_loss");
  return mean;
}

// Checks that `metric`, a loss in the place of a metric, can take labels of the
// class that `loss` ignores. Null: the output has none.
absl::Status CheckIgnored(const Loss* loss, const Loss& metric,
                          const Shape& output) {
  if (loss == nullptr) return absl::OkStatus();
  const std::optional<int64_t> ignored = loss->ignored_class();
  const ClassIds classes = {.count = output.back()};
  if (!ignored || classes.contains(*ignored) ||
      metric.ignored_class() == ignored) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      metric.class_name(), " must have `ignore_class: ", *ignored,
      "`, too: the loss ignores labels of it, and it is no class of the "
      "model's output"));
}

absl::StatusOr<std::vector<ConstMetricPtr>> MakeMetricsOf(const v1::Job& job,
                                                          const Graph& graph,
                                                          size_t output,
                                                          const Loss* loss) {
  const std::string& name = graph.output_name(output);
  const bool is_alone = graph.outputs.size() == 1;
  const MetricObjects given = MetricsOf(job, graph, output);
  const MetricObjects weighted = WeightedMetricsOf(job, graph, output);
  ASSIGN_OR_RETURN(
      std::vector<ConstMetricPtr> metrics,
      MakeMetrics(given, weighted, loss, graph.output_shape(output),
                  is_alone ? "" : absl::StrCat(name, "_")));
  const int unweighted = given.objects.size();
  for (int i = 0; i < static_cast<int>(metrics.size()); ++i) {
    const Loss* const mean_of = metrics[i]->mean_of();
    if (mean_of == nullptr) continue;
    const Path path = i < unweighted ? given.path.Index(i)
                                     : weighted.path.Index(i - unweighted);
    RETURN_IF_ERROR(
        At(path, CheckLossInput(graph, graph.outputs[output], *mean_of)));
    RETURN_IF_ERROR(
        At(path, CheckIgnored(loss, *mean_of, graph.output_shape(output))));
  }
  // As in Keras, one loss is not reported beside that of the model.
  if (loss == nullptr || job.named_losses().size() <= 1) return metrics;
  ASSIGN_OR_RETURN(ConstMetricPtr mean, MeanLossOf(job, graph, output));
  metrics.insert(metrics.begin(), std::move(mean));
  return metrics;
}

// The field that has the metric.
const char* KeyOf(const Metric& metric) {
  return metric.is_weighted ? kWeightedMetricsKey : kMetricsKey;
}

// Checks that the loss and the metrics of an output fit its mask, if it has
// one.
absl::Status CheckFitMask(const Objective& objective, const Graph& graph,
                          size_t output) {
  if (graph.output_masks[output] < 0) return absl::OkStatus();
  const Shape& shape = graph.output_shape(output);
  const auto refuse = [&](const char* key, absl::string_view class_name) {
    return ConfigError(
        Path(key),
        absl::StrCat(class_name, " along this axis does not fit the mask of ",
                     "the model's output ", ShapeToString(shape),
                     "; expected the last axis, or an output without a mask"));
  };
  if (objective.loss != nullptr && !objective.loss->FitsMask(shape)) {
    return refuse(kLossKey, objective.loss->class_name());
  }
  for (const ConstMetricPtr& metric : objective.metrics) {
    if (!metric->FitsMask(shape)) {
      return refuse(KeyOf(*metric), metric->class_name());
    }
  }
  return absl::OkStatus();
}

// Checks what the metrics of all outputs together may not be.
absl::Status CheckTogether(absl::Span<const Objective> objectives) {
  std::set<std::string> names;
  int64_t state_size = 0;
  for (const Objective& objective : objectives) {
    for (const ConstMetricPtr& metric : objective.metrics) {
      const Path path(KeyOf(*metric));
      RETURN_IF_ERROR(CheckStateSize(*metric, state_size, path));
      state_size += metric->state_size();
      if (names.insert(metric->name).second) continue;
      return ConfigError(
          path, absl::StrCat("two of the outputs have a metric that is called ",
                             Excerpt(Value(metric->name)),
                             " in the logs; give one another name"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<const Loss>> MakeLossOf(const v1::Job& job,
                                                       const Graph& graph,
                                                       size_t output) {
  const v1::KerasObject* const object = LossOf(job, graph, output);
  if (object == nullptr) return nullptr;
  const Path path = PathOfLoss(job, graph, output);
  ASSIGN_OR_RETURN(std::unique_ptr<const Loss> loss,
                   MakeLoss(FromProto(*object), path));
  RETURN_IF_ERROR(At(path, loss->CheckOutput(graph.output_shape(output))));
  RETURN_IF_ERROR(
      At(path, CheckLossInput(graph, graph.outputs[output], *loss)));
  return loss;
}

const v1::KerasObject* LossOf(const v1::Job& job, const Graph& graph,
                              size_t output) {
  return FindLossOf(job, graph.output_name(output));
}

MetricObjects MetricsOf(const v1::Job& job, const Graph& graph, size_t output) {
  return ObjectsOf(job.metrics(), job.named_metrics(), kMetricsKey,
                   graph.output_name(output));
}

MetricObjects WeightedMetricsOf(const v1::Job& job, const Graph& graph,
                                size_t output) {
  return ObjectsOf(job.weighted_metrics(), job.named_weighted_metrics(),
                   kWeightedMetricsKey, graph.output_name(output));
}

absl::StatusOr<std::vector<Objective>> MakeObjectives(const v1::Job& job,
                                                      const Graph& graph,
                                                      bool has_sample_weights) {
  RETURN_IF_ERROR(CheckOutputs(job, graph));
  std::vector<Objective> objectives;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    Objective& objective = objectives.emplace_back();
    ASSIGN_OR_RETURN(objective.loss, MakeLossOf(job, graph, i));
    objective.has_sample_weights = has_sample_weights;
    const auto weight = job.loss_weights().find(graph.output_name(i));
    if (weight != job.loss_weights().end()) objective.weight = weight->second;
    ASSIGN_OR_RETURN(objective.class_weights,
                     ReadClassWeights(job, graph.output_shape(i)));
    ASSIGN_OR_RETURN(objective.metrics,
                     MakeMetricsOf(job, graph, i, objective.loss.get()));
    RETURN_IF_ERROR(CheckFitMask(objective, graph, i));
  }
  RETURN_IF_ERROR(CheckTogether(objectives));
  return objectives;
}

std::vector<OutputSpec> SpecsOf(absl::Span<const Objective> objectives) {
  std::vector<OutputSpec> specs;
  for (size_t i = 0; i < objectives.size(); ++i) {
    const Objective& objective = objectives[i];
    if (!objective.has_labels()) continue;
    specs.push_back({.output = i,
                     .loss = objective.loss.get(),
                     .weight = objective.weight,
                     .class_weights = objective.class_weights,
                     .has_sample_weights = objective.has_sample_weights,
                     .metrics = objective.metrics});
  }
  return specs;
}

}  // namespace paceline
