#include "common/keras/compile_config.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/config/codec.h"
#include "common/keras/config_keys.h"
#include "common/keras/keras_classes.h"
#include "common/keras/mixed_precision.h"
#include "common/keras/not_supported.h"

namespace paceline {
namespace {

using Outputs = absl::Span<const std::string>;

// A function of Keras, given as one and not by its name, as its name.
Value NameOfFunction(const Value& value) {
  const std::string name = TextOf(value, "config");
  return TextOf(value, "class_name") == "function" && !name.empty()
             ? Value(name)
             : value;
}

bool IsEmpty(const Value* value) {
  return value == nullptr || value->is_null() ||
         (value->is_list() && value->as_list().empty());
}

// A map by output, and not a Keras object.
bool IsMapOfOutputs(const Value& value) {
  return value.is_map() && value.Find("class_name") == nullptr;
}

// What compile() was given for one of several outputs, and its path. Null:
// nothing.
struct OutputEntry {
  const Value* value = nullptr;
  Path path;
};

// The entries of all outputs in an argument of Keras' compile(): a map by their
// names, or a list in their order.
absl::StatusOr<std::vector<OutputEntry>> FindEntries(const Value& value,
                                                     Outputs outputs,
                                                     const Path& path) {
  std::vector<OutputEntry> found;
  if (value.is_list() && value.as_list().size() == outputs.size()) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      found.push_back({&value.as_list()[i], path.Index(i)});
    }
    return found;
  }
  if (!IsMapOfOutputs(value)) {
    return WrongType(
        value, path,
        absl::StrCat("a map by output, or a list of ", outputs.size()));
  }
  for (const Value::Entry& entry : value.as_map()) {
    if (std::find(outputs.begin(), outputs.end(), entry.key) == outputs.end()) {
      return ConfigError(path.Key(entry.key),
                         absl::StrCat("is no output of the model; expected ",
                                      absl::StrJoin(outputs, ", ")));
    }
  }
  for (const std::string& output : outputs) {
    found.push_back({value.Find(output), path.Key(output)});
  }
  return found;
}

// The only value of a map by output, where the model has one.
absl::StatusOr<Value> OnlyValueOf(const Value::Map& map,
                                  const std::string& output, const Path& path) {
  if (map.size() == 1) return map[0].value;
  const std::string keys = absl::StrJoin(
      map, ", ", [](std::string* text, const Value::Entry& entry) {
        absl::StrAppend(text, entry.key);
      });
  return ConfigError(
      path, absl::StrCat("has ",
                         map.empty()
                             ? "no key"
                             : absl::StrCat("the keys ", Excerpt(Value(keys))),
                         "; expected one, since the model has one output, ",
                         Excerpt(Value(output))));
}

// The entry of a model's only output: the argument itself, or the only value of
// a list or a map.
absl::StatusOr<Value> EntryOfOnlyOutput(const Value& value,
                                        const std::string& output,
                                        const Path& path) {
  if (value.is_list() && value.as_list().size() == 1) {
    return value.as_list()[0];
  }
  if (IsMapOfOutputs(value)) return OnlyValueOf(value.as_map(), output, path);
  if (value.is_list()) {
    return WrongType(value, path, "one value, since the model has one output");
  }
  return value;
}

absl::StatusOr<Value> ReadLoss(const Value& compile, Outputs outputs,
                               const Path& compile_path) {
  const Value* const loss = compile.Find("loss");
  if (IsEmpty(loss)) return Value();
  const Path path = compile_path.Key("loss");
  RETURN_IF_ERROR(CheckIsOfKeras(*loss, path));
  if (outputs.size() == 1) {
    ASSIGN_OR_RETURN(const Value only,
                     EntryOfOnlyOutput(*loss, outputs[0], path));
    return NameOfFunction(only);
  }
  Value::Map losses;
  // As in Keras, a single loss is that of each output.
  if (!loss->is_list() && !IsMapOfOutputs(*loss)) {
    for (const std::string& output : outputs) {
      losses.push_back({output, NameOfFunction(*loss)});
    }
    return Value(std::move(losses));
  }
  ASSIGN_OR_RETURN(const std::vector<OutputEntry> found,
                   FindEntries(*loss, outputs, path));
  for (size_t i = 0; i < outputs.size(); ++i) {
    losses.push_back({outputs[i], IsEmpty(found[i].value)
                                      ? Value()
                                      : NameOfFunction(*found[i].value)});
  }
  return Value(std::move(losses));
}

absl::StatusOr<Value> ReadLossWeights(const Value& compile, Outputs outputs,
                                      const Path& compile_path) {
  const Value* const weights = compile.Find("loss_weights");
  if (IsEmpty(weights)) return Value();
  const Path path = compile_path.Key("loss_weights");
  Value::Map map;
  if (outputs.size() == 1) {
    ASSIGN_OR_RETURN(Value only, EntryOfOnlyOutput(*weights, outputs[0], path));
    map.push_back({outputs[0], std::move(only)});
    return Value(std::move(map));
  }
  ASSIGN_OR_RETURN(const std::vector<OutputEntry> found,
                   FindEntries(*weights, outputs, path));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (IsEmpty(found[i].value)) continue;
    map.push_back({outputs[i], *found[i].value});
  }
  return Value(std::move(map));
}

absl::StatusOr<Value> ReadOptimizer(const Value& compile,
                                    const Path& compile_path) {
  const Value* const optimizer = compile.Find("optimizer");
  if (optimizer == nullptr) return Value();
  const Path path = compile_path.Key("optimizer");
  RETURN_IF_ERROR(CheckIsOfKeras(*optimizer, path));
  return UnwrapLossScale(*optimizer, path);
}

// The class Accuracy counts outputs that equal the label; "accuracy" is another
// metric, and in a job so is `Accuracy`.
absl::StatusOr<Value> ReadMetric(const Value& metric, const Path& path) {
  if (TextOf(metric, "class_name") == "Accuracy") {
    return ConfigError(path,
                       "the class Accuracy, which counts outputs that equal "
                       "their labels, is not supported; expected \"accuracy\"",
                       absl::StatusCode::kUnimplemented);
  }
  return NameOfFunction(metric);
}

// The metrics of an output as a list.
absl::StatusOr<Value> MetricList(const Value& metrics, const Path& path) {
  if (metrics.is_null()) return Value(Value::List());
  Value::List list;
  if (!metrics.is_list()) {
    if (!metrics.is_string() && !metrics.is_map()) {
      return WrongType(metrics, path, "a list");
    }
    ASSIGN_OR_RETURN(list.emplace_back(), ReadMetric(metrics, path));
    return Value(std::move(list));
  }
  for (size_t i = 0; i < metrics.as_list().size(); ++i) {
    ASSIGN_OR_RETURN(list.emplace_back(),
                     ReadMetric(metrics.as_list()[i], path.Index(i)));
  }
  return Value(std::move(list));
}

// `key`: "metrics" or "weighted_metrics".
absl::StatusOr<Value> ReadMetrics(const Value& compile, const char* key,
                                  Outputs outputs, const Path& compile_path) {
  const Value* const metrics = compile.Find(key);
  // As in Keras, an empty map is none.
  if (IsEmpty(metrics) || *metrics == Value(Value::Map())) return Value();
  const Path path = compile_path.Key(key);
  RETURN_IF_ERROR(CheckIsOfKeras(*metrics, path));
  if (outputs.size() == 1) {
    if (IsMapOfOutputs(*metrics)) {
      ASSIGN_OR_RETURN(const Value only,
                       OnlyValueOf(metrics->as_map(), outputs[0], path));
      return MetricList(only, path);
    }
    const bool is_nested = metrics->is_list() &&
                           metrics->as_list().size() == 1 &&
                           metrics->as_list()[0].is_list();
    return MetricList(is_nested ? metrics->as_list()[0] : *metrics, path);
  }
  Value::Map map;
  ASSIGN_OR_RETURN(const std::vector<OutputEntry> found,
                   FindEntries(*metrics, outputs, path));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (IsEmpty(found[i].value)) continue;
    ASSIGN_OR_RETURN(Value list, MetricList(*found[i].value, found[i].path));
    map.push_back({outputs[i], std::move(list)});
  }
  return map.empty() ? Value() : Value(std::move(map));
}

}  // namespace

absl::StatusOr<CompileConfig> ReadCompileConfig(
    const Value& config, absl::Span<const std::string> outputs,
    const Path& path) {
  if (!config.is_map()) return WrongType(config, path, "a map");
  CompileConfig read;
  read.loss = ReadLoss(config, outputs, path);
  read.loss_weights = ReadLossWeights(config, outputs, path);
  read.optimizer = ReadOptimizer(config, path);
  read.metrics = ReadMetrics(config, "metrics", outputs, path);
  read.weighted_metrics =
      ReadMetrics(config, "weighted_metrics", outputs, path);
  return read;
}

}  // namespace paceline
