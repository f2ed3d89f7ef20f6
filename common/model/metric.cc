#include "common/model/metric.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/class_entry.h"
#include "common/config/class_error.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/references_of.h"
#include "common/limits.h"
#include "common/model/keras_names.h"
#include "common/model/metrics/auc.h"
#include "common/model/metrics/binary_accuracy.h"
#include "common/model/metrics/categorical_accuracy.h"
#include "common/model/metrics/confusion_counts.h"
#include "common/model/metrics/constrained_rates.h"
#include "common/model/metrics/cosine_similarity.h"
#include "common/model/metrics/fbeta_score.h"
#include "common/model/metrics/iou.h"
#include "common/model/metrics/log_cosh_error.h"
#include "common/model/metrics/mean_loss.h"
#include "common/model/metrics/precision.h"
#include "common/model/metrics/r2_score.h"
#include "common/model/metrics/recall.h"
#include "common/model/metrics/root_mean_squared_error.h"
#include "common/model/metrics/sparse_categorical_accuracy.h"
#include "common/model/metrics/sparse_top_k_categorical_accuracy.h"
#include "common/model/metrics/top_k_categorical_accuracy.h"
#include "common/model/shape_rule.h"
#include "glog/logging.h"

namespace paceline {
namespace {

using MetricPtr = std::unique_ptr<Metric>;

const std::vector<ClassEntry<MetricPtr>>& MetricEntries() {
  static const auto& entries = *new std::vector<ClassEntry<MetricPtr>>{
      ClassEntryOf<MetricPtr, Auc>(),
      ClassEntryOf<MetricPtr, BinaryAccuracy>(),
      ClassEntryOf<MetricPtr, BinaryIou>(),
      ClassEntryOf<MetricPtr, CategoricalAccuracy>(),
      ClassEntryOf<MetricPtr, CosineSimilarityMetric>(),
      ClassEntryOf<MetricPtr, F1Score>(),
      ClassEntryOf<MetricPtr, FBetaScore>(),
      ClassEntryOf<MetricPtr, FalseNegatives>(),
      ClassEntryOf<MetricPtr, FalsePositives>(),
      ClassEntryOf<MetricPtr, Iou>(),
      ClassEntryOf<MetricPtr, LogCoshError>(),
      ClassEntryOf<MetricPtr, MeanIou>(),
      ClassEntryOf<MetricPtr, OneHotIou>(),
      ClassEntryOf<MetricPtr, OneHotMeanIou>(),
      ClassEntryOf<MetricPtr, PrecisionMetric>(),
      ClassEntryOf<MetricPtr, PrecisionAtRecall>(),
      ClassEntryOf<MetricPtr, R2Score>(),
      ClassEntryOf<MetricPtr, Recall>(),
      ClassEntryOf<MetricPtr, RecallAtPrecision>(),
      ClassEntryOf<MetricPtr, RootMeanSquaredError>(),
      ClassEntryOf<MetricPtr, SensitivityAtSpecificity>(),
      ClassEntryOf<MetricPtr, SparseCategoricalAccuracy>(),
      ClassEntryOf<MetricPtr, SparseTopKCategoricalAccuracy>(),
      ClassEntryOf<MetricPtr, SpecificityAtSensitivity>(),
      ClassEntryOf<MetricPtr, TopKCategoricalAccuracy>(),
      ClassEntryOf<MetricPtr, TrueNegatives>(),
      ClassEntryOf<MetricPtr, TruePositives>(),
  };
  return entries;
}

// What the labels of an output are, and whose they are: a loss or a metric.
struct Labels {
  bool are_sparse = false;
  std::string owner;
};

// The class that Keras chooses for "accuracy", by the shapes of labels and
// output.
absl::StatusOr<const char*> AccuracyFor(const std::optional<Labels>& labels,
                                        const Shape& output, const Path& path) {
  if (labels && labels->are_sparse) {
    return SparseCategoricalAccuracy::kClassName;
  }
  if (!output.empty() && output.back() == 1) return BinaryAccuracy::kClassName;
  if (labels) return CategoricalAccuracy::kClassName;
  return ConfigError(
      path,
      "of an output without a loss is ambiguous, since nothing says what its "
      "labels are; expected sparse_categorical_accuracy for class ids, or "
      "categorical_accuracy for values of the output's shape");
}

// Whether it stands for the class of AccuracyFor.
bool IsAccuracy(absl::string_view name) {
  return name == "accuracy" || name == "acc";
}

bool Names(const std::string& name, const ClassEntry<MetricPtr>& entry) {
  return name == entry.class_name || name == ToSnakeCase(entry.class_name);
}

absl::StatusOr<MetricPtr> MakeMeanLoss(const KerasObject& object,
                                       const Path& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<const Loss> loss, FindLoss(object, path));
  if (loss == nullptr) return nullptr;
  auto metric = std::make_unique<MeanLoss>(std::move(loss));
  if (const Value* name = object.config.Find("name")) {
    RETURN_IF_ERROR(
        Codec<std::string>::Read(*name, path.Key("name"), metric->name));
  }
  return metric;
}

// Keras has a metric of the same class for most losses, without a reduction and
// mostly without an axis; in the place of the others it takes the loss itself.
Value SerializeMeanLoss(const Metric& metric) {
  constexpr absl::string_view kOnlyLosses[] = {"BinaryFocalCrossentropy",
                                               "CategoricalFocalCrossentropy",
                                               "Dice",
                                               "Huber",
                                               "LogCosh",
                                               "Tversky"};
  Value object = Serialize(*metric.mean_of());
  object["config"]["name"] = metric.name;
  if (absl::c_linear_search(kOnlyLosses, metric.class_name())) return object;
  object["module"] = "keras.metrics";
  std::erase_if(object["config"].as_map(), [](const Value::Entry& entry) {
    return entry.key == "reduction" || entry.key == "axis";
  });
  return object;
}

// The metric of a class, or of any name but "accuracy".
absl::StatusOr<MetricPtr> MakeMetric(const KerasObject& object,
                                     const Path& path) {
  std::vector<std::string> known = LossClassNames();
  for (const ClassEntry<MetricPtr>& entry : MetricEntries()) {
    if (Names(object.class_name, entry)) {
      return entry.read(object.config, path);
    }
    known.push_back(entry.class_name);
  }
  ASSIGN_OR_RETURN(MetricPtr metric, MakeMeanLoss(object, path));
  if (metric == nullptr) {
    known.push_back("accuracy");
    return UnknownClass(path, "metric", object.class_name, known);
  }
  return metric;
}

absl::Status CheckFits(const Metric& metric,
                       const std::optional<Labels>& labels, const Shape& output,
                       const Path& path) {
  if (labels && metric.has_sparse_labels() != labels->are_sparse) {
    const auto kind = [](bool sparse) {
      return sparse ? "class ids" : "values of the output's shape";
    };
    return ConfigError(
        path, absl::StrCat(metric.class_name(), " wants labels that are ",
                           kind(metric.has_sparse_labels()), ", but ",
                           labels->owner, " has ", kind(labels->are_sparse)));
  }
  const absl::Status status = metric.CheckOutput(output);
  if (!status.ok()) return ConfigError(path, status.message(), status.code());
  return absl::OkStatus();
}

// The metric of any name, by which it is called, for an output and its labels.
absl::StatusOr<MetricPtr> MakeFittingMetric(KerasObject object,
                                            const std::optional<Labels>& labels,
                                            const Shape& output,
                                            const Path& path) {
  const std::string name = ToSnakeCase(object.class_name);
  if (IsAccuracy(name)) {
    ASSIGN_OR_RETURN(object.class_name, AccuracyFor(labels, output, path));
  }
  ASSIGN_OR_RETURN(MetricPtr metric, MakeMetric(object, path));
  // One that is given by the name of its function is logged by that.
  if (metric->name.empty() ||
      (object.class_name == name && object.config.Find("name") == nullptr)) {
    metric->name = name;
  }
  RETURN_IF_ERROR(CheckFits(*metric, labels, output, path));
  metric->SetOutput(output);
  return metric;
}

// Gives the metrics of an output the names that they have in logs. Source:
// keras/src/trainers/compile_utils.py, CompileMetrics.result.
class MetricNames {
 public:
  explicit MetricNames(absl::string_view prefix) : prefix_(prefix) {}

  // `path`: of the metric.
  absl::Status Complete(Metric& metric, const Path& path) {
    std::string name = absl::StrCat(prefix_, metric.name);
    if (metric.is_weighted && uses_.contains(name)) {
      name = absl::StrCat(prefix_, "weighted_", metric.name);
    }
    const int use = uses_[name]++;
    if (use > 0) absl::StrAppend(&name, "_", use);
    metric.name = std::move(name);
    if (taken_.insert(metric.name).second) return absl::OkStatus();
    return ConfigError(path, absl::StrCat("the name \"", metric.name,
                                          "\" is already taken in the logs; "
                                          "give it another"));
  }

 private:
  const std::string prefix_;
  std::map<std::string, int> uses_;
  // At first, keys in logs that are not metrics.
  std::set<std::string> taken_ = {"epoch", "examples", "learning_rate",
                                  "loss",  "seconds",  "steps"};
};

}  // namespace

bool IsMetricName(const std::string& name) {
  return IsAccuracy(ToSnakeCase(name)) || IsLossName(name) ||
         absl::c_any_of(MetricEntries(),
                        [&](const ClassEntry<MetricPtr>& entry) {
                          return Names(name, entry);
                        });
}

absl::Status Metric::CheckOutput(const Shape& output) const {
  return CheckRank(output, 1);
}

op::Tensor Metric::Lower(const op::Tensor& /*output*/,
                         const op::Tensor& /*labels*/) const {
  LOG(FATAL) << class_name() << " is lowered as a state or as a loss";
}

op::Tensor Metric::LowerState(
    const op::Tensor& /*output*/, const op::Tensor& /*labels*/,
    const std::optional<op::Tensor>& /*weights*/) const {
  LOG(FATAL) << class_name() << " is a mean, which is lowered by its elements";
}

absl::Status CheckStateSize(const Metric& metric, int64_t taken,
                            const Path& path) {
  if (metric.state_size() <= limits::kMaxMetricState - taken) {
    return absl::OkStatus();
  }
  return ConfigError(
      path, absl::StrCat(metric.class_name(), " keeps ", metric.state_size(),
                         " numbers, and the metrics before it ", taken,
                         "; expected at most ", limits::kMaxMetricState,
                         " of all metrics together"));
}

absl::StatusOr<std::vector<std::unique_ptr<const Metric>>> MakeMetrics(
    const MetricObjects& metrics, const MetricObjects& weighted_metrics,
    const Loss* loss, const Shape& output, absl::string_view prefix) {
  std::optional<Labels> labels;
  if (loss != nullptr) {
    labels = {loss->has_sparse_labels(), std::string(loss->class_name())};
  }
  MetricNames names(prefix);
  int64_t state_size = 0;
  std::vector<std::unique_ptr<const Metric>> made;
  for (const MetricObjects* const some : {&metrics, &weighted_metrics}) {
    for (int i = 0; i < some->objects.size(); ++i) {
      const Path path = some->path.Index(i);
      ASSIGN_OR_RETURN(
          MetricPtr metric,
          MakeFittingMetric(FromProto(some->objects[i]), labels, output, path));
      if (!labels) {
        labels = {metric->has_sparse_labels(),
                  std::string(metric->class_name())};
      }
      RETURN_IF_ERROR(CheckStateSize(*metric, state_size, path));
      state_size += metric->state_size();
      metric->is_weighted = some == &weighted_metrics;
      RETURN_IF_ERROR(names.Complete(*metric, path));
      made.push_back(std::move(metric));
    }
  }
  return made;
}

Value Serialize(const Metric& metric) {
  if (metric.mean_of() != nullptr) return SerializeMeanLoss(metric);
  return SerializeByEntry("keras.metrics", MetricEntries(), metric);
}

std::vector<ClassReference> MetricReferences() {
  return ReferencesOf(MetricEntries());
}

}  // namespace paceline
