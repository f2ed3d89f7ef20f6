#include "common/job/objective_fields.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/config/by_name.h"
#include "common/config/message_fields.h"
#include "common/model/loss.h"
#include "common/model/metric.h"
#include "common/model/metric_object.h"

namespace paceline {

// The loss of an output; nullopt: it has none.
struct LossEntry {
  std::optional<v1::KerasObject> object;
};

template <>
struct Codec<LossEntry> {
  // A map with the config of a loss, not with losses of outputs. An output that
  // has the name of a loss needs another.
  static bool IsOne(const Value& map) {
    return map.Find("class_name") != nullptr ||
           (map.as_map().size() == 1 && IsLossName(map.as_map()[0].key));
  }
  static absl::Status Read(const Value& value, const Path& path,
                           LossEntry& out) {
    if (value.is_null()) return absl::OkStatus();
    return Codec<v1::KerasObject>::Read(value, path, out.object.emplace());
  }
  static Value Write(const LossEntry& m) {
    return m.object ? Codec<v1::KerasObject>::Write(*m.object) : Value();
  }
  static std::string Type() { return Codec<v1::KerasObject>::Type(); }
};

// An entry of the metrics of an output.
struct MetricEntry {
  v1::KerasObject object;
};

template <>
struct Codec<MetricEntry> {
  static absl::Status Read(const Value& value, const Path& path,
                           MetricEntry& out) {
    ASSIGN_OR_RETURN(const KerasObject object, ReadMetricObject(value, path));
    ASSIGN_OR_RETURN(out.object, ToProto(object, path));
    return absl::OkStatus();
  }
  static Value Write(const MetricEntry& m) {
    return Codec<v1::KerasObject>::Write(m.object);
  }
  static std::string Type() { return Codec<v1::KerasObject>::Type(); }
};

// The metrics of an output: one or a list.
struct OutputMetrics {
  std::vector<MetricEntry> entries;
};

template <>
struct Codec<OutputMetrics> {
  // A map with the config of a metric, not with metrics of outputs.
  static bool IsOne(const Value& map) {
    if (map.Find("class_name") != nullptr) return true;
    if (map.as_map().size() != 1) return false;
    const Value::Entry& only = map.as_map()[0];
    return (only.value.is_map() || only.value.is_null()) &&
           IsMetricName(only.key);
  }
  static absl::Status Read(const Value& value, const Path& path,
                           OutputMetrics& out) {
    if (value.is_string() || value.is_map()) {
      out.entries.resize(1);
      return Codec<MetricEntry>::Read(value, path, out.entries[0]);
    }
    if (!value.is_list()) return WrongType(value, path, Type());
    return Codec<std::vector<MetricEntry>>::Read(value, path, out.entries);
  }
  static Value Write(const OutputMetrics& m) {
    return Codec<std::vector<MetricEntry>>::Write(m.entries);
  }
  static std::string Type() {
    return absl::StrCat(Codec<MetricEntry>::Type(), " or ",
                        Codec<std::vector<MetricEntry>>::Type());
  }
};

namespace {

using Losses = ByName<LossEntry>;
using MetricsByName = ByName<OutputMetrics>;
using Weights = std::map<std::string, double>;
using ObjectList = google::protobuf::RepeatedPtrField<v1::KerasObject>;
using NamedLists = google::protobuf::Map<std::string, v1::MetricList>;

std::optional<Losses> GetLosses(const v1::Job& job) {
  Losses losses;
  for (const auto& [name, loss] : job.named_losses()) {
    losses.entries[name] = {loss};
  }
  if (job.has_loss()) losses.entries[""] = {job.loss()};
  return losses.entries.empty() ? std::nullopt : std::optional(losses);
}

void SetLosses(v1::Job& job, std::optional<Losses> losses) {
  job.clear_loss();
  job.clear_named_losses();
  if (!losses) return;
  for (auto& [name, loss] : losses->entries) {
    if (!loss.object) continue;
    (name.empty() ? *job.mutable_loss() : (*job.mutable_named_losses())[name]) =
        *std::move(loss.object);
  }
}

OutputMetrics EntriesOf(const ObjectList& metrics) {
  OutputMetrics read;
  for (const v1::KerasObject& metric : metrics)
    read.entries.push_back({metric});
  return read;
}

// `list`: of the only output.
MetricsByName GetMetrics(const ObjectList& list, const NamedLists& named) {
  MetricsByName metrics;
  for (const auto& [name, of_output] : named) {
    metrics.entries[name] = EntriesOf(of_output.metrics());
  }
  if (metrics.entries.empty()) metrics.entries[""] = EntriesOf(list);
  return metrics;
}

void SetMetrics(MetricsByName metrics, ObjectList& list, NamedLists& named) {
  list.Clear();
  named.clear();
  for (auto& [name, of_output] : metrics.entries) {
    ObjectList& objects = name.empty() ? list : *named[name].mutable_metrics();
    for (MetricEntry& entry : of_output.entries) {
      objects.Add(std::move(entry.object));
    }
  }
}

}  // namespace

// Factors by output or class.
template <>
struct Codec<Weights> {
  static absl::Status Read(const Value& value, const Path& path, Weights& out) {
    if (!value.is_map()) {
      return WrongType(value, path, "a map of numbers");
    }
    out.clear();
    for (const Value::Entry& entry : value.as_map()) {
      const Path entry_path = path.Key(entry.key);
      double& weight = out[entry.key];
      RETURN_IF_ERROR(Codec<double>::Read(entry.value, entry_path, weight));
      if (weight < 0) {
        return WrongType(entry.value, entry_path, "a number of at least 0");
      }
    }
    return absl::OkStatus();
  }
  static Value Write(const Weights& m) {
    Value::Map map;
    for (const auto& [name, weight] : m) map.push_back({name, weight});
    return map;
  }
  static std::string Type() { return "map of numbers"; }
};

Field<v1::Job> LossField() {
  return Required(
      "loss", Accessors<v1::Job, std::optional<Losses>>{GetLosses, SetLosses},
      "The loss, by class or by Keras' short name. For several "
      "outputs, a map from the model's outputs to their losses; one without a "
      "loss is predicted and may have metrics, but trains nothing.");
}

namespace {

using WeightMap = google::protobuf::Map<std::string, double>;

// A field of weights that is the map `get` or, mutable, `mutate` of a job.
Field<v1::Job> WeightsField(const char* key,
                            const WeightMap& (v1::Job::*get)() const,
                            WeightMap* (v1::Job::*mutate)(), const char* help) {
  const auto read = [get](const v1::Job& job) {
    return Weights((job.*get)().begin(), (job.*get)().end());
  };
  const auto write = [mutate](v1::Job& job, const Weights& weights) {
    WeightMap& map = *(job.*mutate)();
    map.clear();
    for (const auto& [name, weight] : weights) map[name] = weight;
  };
  return WrittenUnlessDefault(
      Optional(key, Accessors<v1::Job, Weights>{read, write}, help));
}

}  // namespace

Field<v1::Job> LossWeightsField() {
  return WeightsField(
      "loss_weights", &v1::Job::loss_weights, &v1::Job::mutable_loss_weights,
      "Factors of the losses of the model's outputs in their sum, the "
      "loss of the model; 1 where there is none.");
}

Field<v1::Job> ClassWeightField() {
  return WeightsField(
      "class_weight", &v1::Job::class_weight, &v1::Job::mutable_class_weight,
      "Factors of the losses of a class's examples in training, by the class: "
      "{0: 1, 1: 2.5}; 1 where there is none.");
}

Field<v1::Job> MetricsField() {
  const auto read = [](const v1::Job& job) {
    return GetMetrics(job.metrics(), job.named_metrics());
  };
  const auto write = [](v1::Job& job, MetricsByName metrics) {
    SetMetrics(std::move(metrics), *job.mutable_metrics(),
               *job.mutable_named_metrics());
  };
  return Optional(
      "metrics", Accessors<v1::Job, MetricsByName>{read, write},
      "What is measured beside the loss. For several outputs, a map "
      "from the model's outputs to their metrics.");
}

Field<v1::Job> WeightedMetricsField() {
  const auto read = [](const v1::Job& job) {
    return GetMetrics(job.weighted_metrics(), job.named_weighted_metrics());
  };
  const auto write = [](v1::Job& job, MetricsByName metrics) {
    SetMetrics(std::move(metrics), *job.mutable_weighted_metrics(),
               *job.mutable_named_weighted_metrics());
  };
  return WrittenUnlessDefault(Optional(
      "weighted_metrics", Accessors<v1::Job, MetricsByName>{read, write},
      "The same, but examples count by their weights: sample_weight, "
      "and in training class_weight."));
}

}  // namespace paceline
