#include "coordinator/cli/service/words.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/unexpected_value.h"
#include "common/limits.h"

namespace paceline {
namespace {

constexpr char kLeader[] = "leader";

// The end of an enumerator's name in lower case: "running".
std::string EnumText(const std::string& name, absl::string_view prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

}  // namespace

std::string JobStateText(v1::JobState state) {
  return EnumText(v1::JobState_Name(state), "JOB_STATE_");
}

std::string TypeText(v1::TaskType type) {
  return EnumText(v1::TaskType_Name(type), "TASK_TYPE_");
}

std::string TaskStateText(v1::TaskState state) {
  return EnumText(v1::TaskState_Name(state), "TASK_STATE_");
}

std::string MemberStateText(const v1::MemberView& member) {
  if (member.is_lost()) return "lost";
  if (member.is_leaving()) return "leaving";
  if (member.record().is_drained()) return "drained";
  return member.is_open() ? "open" : "closed";
}

std::vector<std::string> UserOverrides(const v1::Submission& submission) {
  std::vector<std::string> overrides(submission.overrides().begin(),
                                     submission.overrides().end());
  if (!overrides.empty() && absl::StartsWith(overrides.back(), "name=\"")) {
    overrides.pop_back();
  }
  return overrides;
}

std::string TaskText(const v1::Task& task) {
  if (task.type() == v1::TASK_TYPE_CHIEF) return kLeader;
  return absl::StrCat(TypeText(task.type()), "-", task.index());
}

absl::StatusOr<v1::Task> TaskFromText(absl::string_view text) {
  v1::Task task;
  if (text == kLeader) {
    task.set_type(v1::TASK_TYPE_CHIEF);
    return task;
  }
  for (const v1::TaskType type :
       {v1::TASK_TYPE_WORKER, v1::TASK_TYPE_PS, v1::TASK_TYPE_EVALUATOR}) {
    absl::string_view index = text;
    uint32_t number = 0;
    if (absl::ConsumePrefix(&index, absl::StrCat(TypeText(type), "-")) &&
        absl::SimpleAtoi(index, &number) && number < limits::kMaxTasks) {
      task.set_type(type);
      task.set_index(number);
      return task;
    }
  }
  return UnexpectedValue("--task", text, "leader, or a task such as worker-1");
}

absl::Status CheckHasTask(const v1::Submission& submission,
                          const v1::Task& task) {
  if (task.type() == v1::TASK_TYPE_CHIEF) return absl::OkStatus();
  std::string names = kLeader;
  for (const v1::TaskGroup& group : submission.groups()) {
    if (group.type() == task.type() && task.index() < group.count()) {
      return absl::OkStatus();
    }
    if (group.count() == 0) continue;
    v1::Task each;
    each.set_type(group.type());
    absl::StrAppend(&names, ", ", TaskText(each));
    each.set_index(group.count() - 1);
    if (group.count() > 1) absl::StrAppend(&names, " to ", TaskText(each));
  }
  return UnexpectedValue("--task", TaskText(task),
                         absl::StrCat("a task of the job: ", names));
}

std::string TimeText(int64_t micros) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixMicros(micros),
                          absl::UTCTimeZone());
}

absl::Duration Since(int64_t micros, absl::Time now) {
  return now - absl::FromUnixMicros(micros);
}

absl::Duration Took(const v1::JobRecord& record, absl::Time now) {
  if (record.started_micros() == 0) return absl::ZeroDuration();
  return Since(record.started_micros(),
               record.ended_micros() == 0
                   ? now
                   : absl::FromUnixMicros(record.ended_micros()));
}

}  // namespace paceline
