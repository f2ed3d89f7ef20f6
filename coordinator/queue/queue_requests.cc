#include "coordinator/queue/queue_requests.h"

#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/names.h"
#include "common/base/status_macros.h"
#include "common/cluster/task_proto.h"
#include "common/limits.h"

namespace paceline {
namespace {

constexpr size_t kMaxKeyBytes = 128;
// They become arguments of a program; all of these may have 128 KiB.
constexpr size_t kMaxOverrideBytes = 64 << 10;
// So that an id, which is the name and a number, is a safe name, too.
constexpr size_t kMaxJobNameBytes = 200;
constexpr size_t kMaxLabels = 64;
constexpr size_t kMaxErrorBytes = 4096;
// 10,000 tasks of each type, on 10,000 daemons, stay below 2^63.
constexpr uint64_t kMaxMillicores = 1'000'000'000;
constexpr uint64_t kMaxMemoryBytes = uint64_t{1} << 46;
constexpr uint64_t kMaxGpus = 1024;
// Thousands of processors for years, and still far below 2^63.
constexpr uint64_t kMaxCpuMicros = uint64_t{1} << 60;
constexpr uint32_t kMaxRetries = 1'000'000;
constexpr uint64_t kMaxTimeoutMicros = uint64_t{10} * 366 * 86'400 * 1'000'000;
// Of one daemon: beside kMaxTasksOfDaemon, some that are over or given up.
constexpr int kMaxTasksHeld = 1000;

absl::Status Invalid(absl::string_view field, absl::string_view value,
                     absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": ", value, "; expected ", expected));
}

absl::Status CheckAtMost(absl::string_view field, uint64_t value,
                         uint64_t most) {
  if (value <= most) return absl::OkStatus();
  return Invalid(field, absl::StrCat(value), absl::StrCat("at most ", most));
}

absl::Status CheckResources(absl::string_view field,
                            const v1::Resources& resources) {
  RETURN_IF_ERROR(CheckAtMost(absl::StrCat(field, ".millicores"),
                              resources.millicores(), kMaxMillicores));
  RETURN_IF_ERROR(CheckAtMost(absl::StrCat(field, ".memory_bytes"),
                              resources.memory_bytes(), kMaxMemoryBytes));
  return CheckAtMost(absl::StrCat(field, ".gpus"), resources.gpus(), kMaxGpus);
}

template <typename Map>
absl::Status CheckLabels(absl::string_view field, const Map& labels) {
  RETURN_IF_ERROR(CheckAtMost(field, labels.size(), kMaxLabels));
  for (const auto& [key, value] : labels) {
    RETURN_IF_ERROR(CheckVisibleAscii(field, key));
    RETURN_IF_ERROR(CheckVisibleAscii(absl::StrCat(field, ".", key), value));
  }
  return absl::OkStatus();
}

absl::Status CheckType(absl::string_view field, v1::TaskType type) {
  if (type == v1::TASK_TYPE_PS || type == v1::TASK_TYPE_WORKER) {
    return absl::OkStatus();
  }
  return Invalid(field, absl::StrCat(type), "TASK_TYPE_PS or TASK_TYPE_WORKER");
}

absl::Status CheckGroup(absl::string_view field, const v1::TaskGroup& group) {
  RETURN_IF_ERROR(CheckType(absl::StrCat(field, ".type"), group.type()));
  if (group.count() == 0 || group.count() > limits::kMaxTasks) {
    return Invalid(absl::StrCat(field, ".count"), absl::StrCat(group.count()),
                   absl::StrCat("1 to ", limits::kMaxTasks));
  }
  RETURN_IF_ERROR(CheckResources(absl::StrCat(field, ".each"), group.each()));
  return CheckLabels(absl::StrCat(field, ".labels"), group.labels());
}

// What a daemon's message and its record both say.
template <typename Message>
absl::Status CheckTraits(const Message& message) {
  if (message.incarnation() == 0) {
    return Invalid("incarnation", "0", "the time of the daemon's start");
  }
  RETURN_IF_ERROR(CheckType("type", message.type()));
  RETURN_IF_ERROR(CheckVisibleAscii("version", message.version()));
  RETURN_IF_ERROR(CheckResources("total", message.total()));
  return CheckLabels("labels", message.labels());
}

absl::Status CheckUsage(absl::string_view field, const v1::Usage& usage) {
  RETURN_IF_ERROR(CheckAtMost(absl::StrCat(field, ".cpu_micros"),
                              usage.cpu_micros(), kMaxCpuMicros));
  return CheckAtMost(absl::StrCat(field, ".peak_memory_bytes"),
                     usage.peak_memory_bytes(), kMaxMemoryBytes);
}

absl::Status CheckReport(absl::string_view field,
                         const v1::TaskReport& report) {
  RETURN_IF_ERROR(
      CheckSafeName(absl::StrCat(field, ".job"), report.task().job()));
  RETURN_IF_ERROR(TaskFromProto(report.task().task()).status());
  if (report.state() != v1::TASK_STATE_RUNNING &&
      report.state() != v1::TASK_STATE_OVER) {
    return Invalid(absl::StrCat(field, ".state"), absl::StrCat(report.state()),
                   "TASK_STATE_RUNNING or TASK_STATE_OVER");
  }
  RETURN_IF_ERROR(
      CheckAtMost(absl::StrCat(field, ".exit_code"), report.exit_code(), 255));
  RETURN_IF_ERROR(CheckUsage(absl::StrCat(field, ".usage"), report.usage()));
  if (!report.address().empty()) {
    RETURN_IF_ERROR(
        CheckVisibleAscii(absl::StrCat(field, ".address"), report.address()));
  }
  return CheckAtMost(absl::StrCat(field, ".error: bytes"),
                     report.error().size(), kMaxErrorBytes);
}

}  // namespace

absl::Status CheckSubmission(const v1::Submission& submission) {
  RETURN_IF_ERROR(CheckSafeName("name", submission.name(), kMaxJobNameBytes));
  RETURN_IF_ERROR(CheckVisibleAscii("user", submission.user()));
  RETURN_IF_ERROR(CheckAtMost("idempotency_key: bytes",
                              submission.idempotency_key().size(),
                              kMaxKeyBytes));
  std::set<v1::TaskType> types;
  for (int i = 0; i < submission.groups_size(); ++i) {
    const v1::TaskGroup& group = submission.groups(i);
    const std::string field = absl::StrCat("groups[", i, "]");
    RETURN_IF_ERROR(CheckGroup(field, group));
    if (!types.insert(group.type()).second) {
      return Invalid(absl::StrCat(field, ".type"),
                     v1::TaskType_Name(group.type()),
                     "a type that no other group has");
    }
  }
  if (!types.contains(v1::TASK_TYPE_WORKER)) {
    return Invalid("groups", absl::StrCat(submission.groups_size(), " groups"),
                   "one of TASK_TYPE_WORKER");
  }
  RETURN_IF_ERROR(CheckResources("leader", submission.leader()));
  size_t override_bytes = 0;
  for (const std::string& each : submission.overrides()) {
    override_bytes += each.size();
  }
  RETURN_IF_ERROR(
      CheckAtMost("overrides: bytes", override_bytes, kMaxOverrideBytes));
  RETURN_IF_ERROR(CheckAtMost("retries", submission.retries(), kMaxRetries));
  return CheckAtMost("timeout_micros", submission.timeout_micros(),
                     kMaxTimeoutMicros);
}

absl::Status CheckDaemon(const v1::DaemonRecord& record) {
  RETURN_IF_ERROR(CheckVisibleAscii("name", record.name()));
  return CheckTraits(record);
}

absl::Status CheckSync(const v1::SyncRequest& request) {
  RETURN_IF_ERROR(CheckSafeName("daemon", request.daemon()));
  if (request.sequence() == 0) return Invalid("sequence", "0", "1 or more");
  RETURN_IF_ERROR(CheckTraits(request));
  RETURN_IF_ERROR(CheckAtMost("tasks", request.tasks_size(), kMaxTasksHeld));
  std::set<std::tuple<std::string, uint32_t, int, uint32_t>> tasks;
  for (int i = 0; i < request.tasks_size(); ++i) {
    const std::string field = absl::StrCat("tasks[", i, "]");
    RETURN_IF_ERROR(CheckReport(field, request.tasks(i)));
    const v1::JobTask& task = request.tasks(i).task();
    if (!tasks
             .insert({task.job(), task.generation(), task.task().type(),
                      task.task().index()})
             .second) {
      return Invalid(field, absl::StrCat("a task of ", task.job()),
                     "no task twice");
    }
  }
  return absl::OkStatus();
}

}  // namespace paceline
