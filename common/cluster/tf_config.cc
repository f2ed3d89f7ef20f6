#include "common/cluster/tf_config.h"

#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/cluster/address.h"
#include "common/config/check.h"
#include "common/config/codec.h"
#include "common/config/json_reader.h"
#include "common/config/path.h"
#include "common/config/suggestion.h"
#include "common/limits.h"

namespace paceline {
namespace {

constexpr char kSource[] = "TF_CONFIG";

absl::Status UnknownType(absl::string_view name, const Path& path) {
  return ConfigError(path,
                     absl::StrCat("unknown task type ", Excerpt(Value(name)),
                                  Suggestion(name, TaskTypeNames())));
}

// The value of a required key.
absl::StatusOr<const Value*> Find(const Value& map, const Path& path,
                                  absl::string_view key,
                                  absl::string_view expected) {
  if (!map.is_map()) return WrongType(map, path, "an object");
  if (const Value* value = map.Find(key)) return value;
  return ConfigError(path.Key(key),
                     absl::StrCat("missing; expected ", expected));
}

absl::StatusOr<int> ReadIndex(const Value& value, const Path& path) {
  int64_t index = 0;
  if (!value.is_string() || !absl::SimpleAtoi(value.as_string(), &index)) {
    RETURN_IF_ERROR(Codec<int64_t>::Read(value, path, index));
  }
  RETURN_IF_ERROR(Apply(Between(0, limits::kMaxTasks - 1), Value(index), path));
  return static_cast<int>(index);
}

absl::StatusOr<TaskId> ReadTask(const Value& document) {
  const Path path("task");
  ASSIGN_OR_RETURN(
      const Value* task,
      Find(document, Path(), "task", R"({"type": TYPE, "index": INDEX})"));
  ASSIGN_OR_RETURN(const Value* type, Find(*task, path, "type", "a task type"));
  ASSIGN_OR_RETURN(const Value* index,
                   Find(*task, path, "index", "an integer from 0"));
  std::string name;
  RETURN_IF_ERROR(Codec<std::string>::Read(*type, path.Key("type"), name));
  const std::optional<TaskType> known = TaskTypeFromName(name);
  if (!known) return UnknownType(name, path.Key("type"));
  TaskId id{.type = *known};
  ASSIGN_OR_RETURN(id.index, ReadIndex(*index, path.Key("index")));
  return id;
}

// Reads a `cluster` object, and checks it for consistency.
class ClusterReader {
 public:
  explicit ClusterReader(Path path) : path_(std::move(path)) {}

  absl::Status Read(const Value& cluster) {
    if (!cluster.is_map()) return WrongType(cluster, path_, "an object");
    for (const Value::Entry& entry : cluster.as_map()) {
      const Path path = path_.Key(entry.key);
      const std::optional<TaskType> type = TaskTypeFromName(entry.key);
      if (!type) return UnknownType(entry.key, path);
      RETURN_IF_ERROR(ReadTasks(entry.value, path, *type));
    }
    return absl::OkStatus();
  }

  ClusterSpec TakeCluster() { return std::move(cluster_); }
  std::vector<std::string> TakeNotes() { return std::move(notes_); }

 private:
  absl::Status ReadTasks(const Value& value, const Path& path, TaskType type) {
    cluster_.tasks[type];
    if (value.is_null()) return absl::OkStatus();
    if (value.is_list()) {
      for (size_t i = 0; i < value.as_list().size(); ++i) {
        RETURN_IF_ERROR(Add(value.as_list()[i], path.Index(i), type,
                            static_cast<int64_t>(i)));
      }
    } else if (value.is_map()) {
      for (const Value::Entry& entry : value.as_map()) {
        ASSIGN_OR_RETURN(const int64_t index,
                         ReadKey(entry.key, path.Key(entry.key)));
        RETURN_IF_ERROR(Add(entry.value, path.Key(entry.key), type, index));
      }
    } else {
      return WrongType(value, path,
                       "a list of addresses, or an object of addresses by "
                       "index");
    }
    return CheckIsAlone(path, type);
  }

  // Reads a key of the sparse form, which is an index.
  static absl::StatusOr<int64_t> ReadKey(const std::string& key,
                                         const Path& path) {
    int64_t index = 0;
    const bool is_canonical =
        absl::SimpleAtoi(key, &index) && absl::StrCat(index) == key;
    if (!is_canonical || index < 0) {
      return ConfigError(path, absl::StrCat("expected an index such as \"0\", "
                                            "got ",
                                            Excerpt(key)));
    }
    return index;
  }

  absl::Status Add(const Value& value, const Path& path, TaskType type,
                   int64_t index) {
    if (index >= limits::kMaxTasks) {
      return ConfigError(
          path, absl::StrCat("the index must be below ", limits::kMaxTasks));
    }
    if (!value.is_string()) {
      return WrongType(value, path, "an address \"host:port\"");
    }
    const absl::StatusOr<Address> address = ParseAddress(value.as_string());
    if (!address.ok()) {
      return ConfigError(
          path, absl::StrCat("expected an address \"host:port\", got ",
                             Excerpt(value), ": ", address.status().message()));
    }
    const std::string text = address->ToString();
    if (!address->has_port) {
      notes_.push_back(absl::StrCat(kSource, ": ", path.text(), ": ",
                                    Excerpt(value), " has no port; taking ",
                                    text));
    }
    const auto [first, is_new] =
        owners_.emplace(absl::AsciiStrToLower(text), path.text());
    if (!is_new) {
      return ConfigError(
          path,
          absl::StrCat(Excerpt(value), " is the address of ", first->second,
                       " too; expected one task at an "
                       "address"));
    }
    cluster_.tasks[type][static_cast<int>(index)] = text;
    return absl::OkStatus();
  }

  // There may be at most one chief and one evaluator, with index 0.
  absl::Status CheckIsAlone(const Path& path, TaskType type) {
    if (type != TaskType::kChief && type != TaskType::kEvaluator) {
      return absl::OkStatus();
    }
    const ClusterSpec::Tasks& tasks = cluster_.of(type);
    if (tasks.empty() || (tasks.size() == 1 && tasks.contains(0))) {
      return absl::OkStatus();
    }
    return ConfigError(
        path, absl::StrCat("expected at most one ", TaskTypeName(type),
                           ", of index 0; got ", tasks.size(),
                           tasks.size() == 1 ? ", of index " : ", up to index ",
                           tasks.rbegin()->first));
  }

  const Path path_;
  ClusterSpec cluster_;
  std::vector<std::string> notes_;
  // Paths of entries by their address in lower case.
  std::map<std::string, std::string> owners_;
};

// Whether `cluster` is what Kubeflow writes for a task with
// enableDynamicWorker: `ps` is a list or null, `worker` is an object with at
// most the task itself, and a ps sees only itself.
bool IsDynamic(const Value& cluster, const ClusterSpec& spec, TaskId task) {
  const Value* workers = cluster.Find("worker");
  const Value* servers = cluster.Find("ps");
  if (workers == nullptr || !workers->is_map()) return false;
  const ClusterSpec::Tasks& seen = spec.of(TaskType::kWorker);
  if (task.type == TaskType::kWorker) {
    // A full cluster may also consist of worker 0 alone, but then Kubeflow
    // would not write an object for workers next to a list of ps.
    return seen.size() == 1 && seen.contains(task.index) &&
           (task.index > 0 || (servers != nullptr && !servers->is_map()));
  }
  if (!seen.empty() || servers == nullptr || servers->is_map()) return false;
  return spec.count(TaskType::kPs) == (task.type == TaskType::kPs ? 1 : 0);
}

// The task must be in the cluster, except an evaluator, which is no member.
absl::Status CheckMembership(const TfConfig& config, const Path& cluster_path) {
  const TaskId task = config.task;
  const ClusterSpec::Tasks& same_type = config.cluster.of(task.type);
  if (same_type.contains(task.index)) return absl::OkStatus();
  const char* name = TaskTypeName(task.type);
  if (same_type.empty()) {
    if (config.is_dynamic && task.type != TaskType::kWorker) {
      return absl::OkStatus();
    }
    if (task.type == TaskType::kEvaluator && task.index == 0) {
      return absl::OkStatus();
    }
    if (task.type != TaskType::kEvaluator) {
      return ConfigError(
          Path("task").Key("type"),
          absl::StrCat("\"", name, "\" is not in the cluster; expected one of ",
                       "the types that have addresses in ",
                       cluster_path.text()));
    }
  }
  const std::string listed =
      same_type.empty()
          ? "0"
          : absl::StrCat("an index in ", cluster_path.Key(name).text(),
                         ", whose "
                         "last is ",
                         same_type.rbegin()->first);
  return ConfigError(
      Path("task").Key("index"),
      absl::StrCat("out of range; expected ", listed, ", got ", task.index));
}

absl::StatusOr<TfConfig> ReadDocument(const Value& document) {
  if (!document.is_map()) return WrongType(document, Path(), "an object");
  TfConfig config;
  ASSIGN_OR_RETURN(config.task, ReadTask(document));
  const Value* cluster = document.Find("cluster");
  const Value* sparse = document.Find("sparseCluster");
  if (cluster != nullptr && sparse != nullptr) {
    return ConfigError(Path("sparseCluster"),
                       "excludes cluster; expected one of them");
  }
  const Path path(sparse != nullptr ? "sparseCluster" : "cluster");
  if (cluster == nullptr) cluster = sparse;
  if (cluster == nullptr && config.task.type != TaskType::kEvaluator) {
    return ConfigError(path, "missing; expected {TYPE: [addresses], ...}");
  }
  if (cluster != nullptr) {
    ClusterReader reader(path);
    RETURN_IF_ERROR(reader.Read(*cluster));
    config.cluster = reader.TakeCluster();
    config.notes = reader.TakeNotes();
    config.is_dynamic =
        sparse != nullptr || IsDynamic(*cluster, config.cluster, config.task);
  }
  // In the dynamic dialect a ps sees only its own address, in a list.
  if (config.is_dynamic && config.task.type == TaskType::kPs &&
      config.cluster.count(TaskType::kPs) == 1) {
    ClusterSpec::Tasks& own = config.cluster.tasks[TaskType::kPs];
    own = {{config.task.index, own.begin()->second}};
  }
  RETURN_IF_ERROR(CheckMembership(config, path));
  return config;
}

}  // namespace

bool IsNoTfConfig(absl::string_view json) {
  if (json.empty()) return true;
  const auto document = ReadJson(json, kSource, limits::kMaxTfConfigBytes);
  if (!document.ok() || !document->is_map()) return false;
  const auto is_empty = [&](absl::string_view key) {
    const Value* value = document->Find(key);
    return value == nullptr || *value == Value(Value::Map{});
  };
  return is_empty("task") && is_empty("cluster") && is_empty("sparseCluster");
}

absl::StatusOr<TfConfig> ParseTfConfig(absl::string_view json) {
  ASSIGN_OR_RETURN(const Value document,
                   ReadJson(json, kSource, limits::kMaxTfConfigBytes));
  absl::StatusOr<TfConfig> config = ReadDocument(document);
  if (!config.ok()) return Annotate(config.status(), kSource);
  return config;
}

}  // namespace paceline
