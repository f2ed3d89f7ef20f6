#include "coordinator/cli/service/views.h"

#include <cstdint>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/base/peer_text.h"
#include "common/limits.h"
#include "coordinator/cli/service/table.h"
#include "coordinator/cli/service/units.h"
#include "coordinator/queue/resources.h"

namespace paceline {
namespace {

using ::nlohmann::ordered_json;

constexpr char kLeader[] = "leader";

// The end of an enumerator's name in lower case: "running".
std::string EnumText(const std::string& name, absl::string_view prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

std::string TypeText(v1::TaskType type) {
  return EnumText(v1::TaskType_Name(type), "TASK_TYPE_");
}

std::string TaskStateText(v1::TaskState state) {
  return EnumText(v1::TaskState_Name(state), "TASK_STATE_");
}

std::string TimeText(int64_t micros) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixMicros(micros),
                          absl::UTCTimeZone());
}

ordered_json TimeJson(int64_t micros) {
  return micros == 0 ? ordered_json() : ordered_json(TimeText(micros));
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

std::string TookText(const v1::JobRecord& record, absl::Time now) {
  return record.started_micros() == 0 ? "" : ShortDuration(Took(record, now));
}

std::string ResourcesText(const v1::Resources& resources) {
  return ResourcesFromProto(resources, 0).ToString();
}

// "2 workers, 1 ps".
std::string GroupsText(const v1::Submission& submission) {
  std::map<v1::TaskType, uint32_t> counts;
  for (const v1::TaskGroup& group : submission.groups()) {
    counts[group.type()] += group.count();
  }
  std::vector<std::string> parts;
  for (const auto& [type, count] : counts) {
    parts.push_back(type == v1::TASK_TYPE_WORKER
                        ? Counted(count, "worker")
                        : absl::StrCat(count, " ", TypeText(type)));
  }
  return absl::StrJoin(parts, ", ");
}

// "gpu=a100,zone=b", sorted.
template <typename Map>
std::string LabelsText(const Map& labels) {
  const std::map<std::string, std::string> sorted(labels.begin(), labels.end());
  return absl::StrJoin(sorted, ",", absl::PairFormatter("="));
}

template <typename Map>
ordered_json LabelsJson(const Map& labels) {
  ordered_json json = ordered_json::object();
  for (const auto& [key, value] :
       std::map<std::string, std::string>(labels.begin(), labels.end())) {
    json[key] = value;
  }
  return json;
}

ordered_json ResourcesJson(const v1::Resources& resources) {
  return {{"cores", static_cast<double>(resources.millicores()) / 1000},
          {"memory_bytes", resources.memory_bytes()},
          {"gpus", resources.gpus()}};
}

ordered_json PlacementJson(const v1::Placement& placement) {
  ordered_json json = {{"task", TaskText(placement.task())},
                       {"daemon", placement.daemon()},
                       {"state", TaskStateText(placement.state())},
                       {"address", placement.address()},
                       {"exit_code", nullptr},
                       {"cpu_seconds", nullptr},
                       {"peak_memory_bytes", nullptr},
                       {"error", placement.error()}};
  if (placement.state() == v1::TASK_STATE_OVER) {
    json["exit_code"] = placement.exit_code();
  }
  if (placement.has_usage()) {
    json["cpu_seconds"] =
        static_cast<double>(placement.usage().cpu_micros()) / 1e6;
    json["peak_memory_bytes"] = placement.usage().peak_memory_bytes();
  }
  return json;
}

ordered_json FilesJson(
    const google::protobuf::RepeatedPtrField<v1::JobFile>& files) {
  ordered_json json = ordered_json::array();
  for (const v1::JobFile& file : files) {
    json.push_back({{"path", file.path()},
                    {"size_bytes", file.size_bytes()},
                    {"sha256", file.sha256()}});
  }
  return json;
}

// What is no JSON stays text.
ordered_json ResultJson(const std::string& text) {
  if (text.empty()) return nullptr;
  ordered_json json =
      ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? ordered_json(text) : json;
}

std::string MemberStateText(const v1::MemberView& member) {
  if (member.is_lost()) return "lost";
  if (member.is_leaving()) return "leaving";
  if (member.record().is_drained()) return "drained";
  return member.is_open() ? "open" : "closed";
}

std::string CoresText(const v1::Resources& resources) {
  return absl::StrFormat("%g",
                         static_cast<double>(resources.millicores()) / 1000);
}

void AddLine(absl::string_view name, absl::string_view value,
             std::string& text) {
  if (value.empty()) return;
  absl::StrAppendFormat(&text, "%-12s %s\n", absl::StrCat(name, ":"),
                        PeerText(value));
}

void AddTime(absl::string_view name, int64_t micros, absl::Time now,
             std::string& text) {
  if (micros == 0) return;
  AddLine(name,
          absl::StrCat(TimeText(micros), " (",
                       ShortDuration(Since(micros, now)), " ago)"),
          text);
}

// "0.4s", "1h5m".
std::string CpuText(const v1::Usage& usage) {
  const double seconds = static_cast<double>(usage.cpu_micros()) / 1e6;
  return seconds < 60 ? absl::StrFormat("%.1fs", seconds)
                      : ShortDuration(absl::Seconds(seconds));
}

void AddTasks(const v1::JobView& job, std::string& text) {
  if (job.record().placements().empty()) return;
  std::vector<std::vector<std::string>> rows = {
      {"TASK", "DAEMON", "STATE", "EXIT", "CPU", "MEMORY", "ERROR"}};
  for (const v1::Placement& each : job.record().placements()) {
    const bool is_over = each.state() == v1::TASK_STATE_OVER;
    rows.push_back(
        {TaskText(each.task()), each.daemon(), TaskStateText(each.state()),
         is_over ? absl::StrCat(each.exit_code()) : "",
         each.has_usage() ? CpuText(each.usage()) : "",
         each.has_usage() ? ShortSize(each.usage().peak_memory_bytes()) : "",
         each.error()});
  }
  absl::StrAppend(&text, "tasks:\n", TableText(rows, "  "));
}

void AddOutputs(const v1::JobView& job, std::string& text) {
  if (job.outputs().empty()) return;
  std::vector<std::vector<std::string>> rows = {{"OUTPUT", "SIZE"}};
  for (const v1::JobFile& file : job.outputs()) {
    rows.push_back({file.path(), ShortSize(file.size_bytes())});
  }
  absl::StrAppend(&text, "outputs:\n", TableText(rows, "  "));
}

void AddResult(const v1::JobView& job, std::string& text) {
  const ordered_json result = ResultJson(job.result_json());
  if (!result.is_object()) {
    if (!result.is_null()) AddLine("result", job.result_json(), text);
    return;
  }
  absl::StrAppend(&text, "result:\n");
  for (const auto& [key, value] : result.items()) {
    absl::StrAppend(
        &text, "  ", PeerText(key), ": ",
        PeerText(value.dump(-1, ' ', /*ensure_ascii=*/false,
                            ordered_json::error_handler_t::replace)),
        "\n");
  }
}

}  // namespace

std::string JobStateText(v1::JobState state) {
  return EnumText(v1::JobState_Name(state), "JOB_STATE_");
}

bool HasEnded(v1::JobState state) {
  return state == v1::JOB_STATE_SUCCEEDED || state == v1::JOB_STATE_FAILED ||
         state == v1::JOB_STATE_STOPPED;
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
  return absl::InvalidArgumentError(absl::StrCat(
      "--task: \"", text, "\"; expected leader, or a task such as worker-1"));
}

ordered_json JobSummaryJson(const v1::JobView& job, absl::Time now) {
  const v1::JobRecord& record = job.record();
  const v1::Submission& submission = record.submission();
  ordered_json groups = ordered_json::array();
  for (const v1::TaskGroup& group : submission.groups()) {
    groups.push_back({{"type", TypeText(group.type())},
                      {"count", group.count()},
                      {"each", ResourcesJson(group.each())},
                      {"labels", LabelsJson(group.labels())}});
  }
  ordered_json json = {
      {"id", record.id()},
      {"name", submission.name()},
      {"user", submission.user()},
      // As in result.json.
      {"state", absl::AsciiStrToUpper(JobStateText(record.state()))},
      {"why_queued", job.why_queued()},
      {"error", record.error()},
      {"priority", submission.priority()},
      {"starts", record.generation()},
      {"failures", record.failures()},
      {"retries", submission.retries()},
      {"timeout_seconds", nullptr},
      {"submitted", TimeJson(record.submitted_micros())},
      {"started", TimeJson(record.started_micros())},
      {"ended", TimeJson(record.ended_micros())},
      {"took_seconds", absl::ToDoubleSeconds(Took(record, now))},
      {"groups", std::move(groups)},
      {"leader", ResourcesJson(submission.leader())}};
  if (submission.timeout_micros() != 0) {
    json["timeout_seconds"] =
        static_cast<double>(submission.timeout_micros()) / 1e6;
  }
  return json;
}

ordered_json JobJson(const v1::JobView& job, absl::Time now) {
  ordered_json json = JobSummaryJson(job, now);
  json["overrides"] = ordered_json::array();
  for (const std::string& each : job.record().submission().overrides()) {
    json["overrides"].push_back(each);
  }
  json["files"] = FilesJson(job.record().submission().files());
  json["tasks"] = ordered_json::array();
  for (const v1::Placement& each : job.record().placements()) {
    json["tasks"].push_back(PlacementJson(each));
  }
  json["outputs"] = FilesJson(job.outputs());
  json["result"] = ResultJson(job.result_json());
  return json;
}

ordered_json MemberJson(const v1::MemberView& member) {
  const v1::DaemonRecord& record = member.record();
  ordered_json jobs = ordered_json::array();
  for (const std::string& job : member.jobs()) jobs.push_back(job);
  return {{"name", record.name()},
          {"type", TypeText(record.type())},
          {"state", MemberStateText(member)},
          {"is_drained", record.is_drained()},
          {"version", record.version()},
          {"labels", LabelsJson(record.labels())},
          {"total", ResourcesJson(record.total())},
          {"used", ResourcesJson(member.used())},
          {"jobs", std::move(jobs)},
          {"last_heard", TimeJson(record.last_heard_micros())}};
}

std::string JobText(const v1::JobView& job, absl::Time now) {
  const v1::JobRecord& record = job.record();
  const v1::Submission& submission = record.submission();
  std::string text;
  AddLine("id", record.id(), text);
  AddLine("name", submission.name(), text);
  AddLine("user", submission.user(), text);
  AddLine("state", JobStateText(record.state()), text);
  AddLine("why queued", job.why_queued(), text);
  AddLine("error", record.error(), text);
  AddLine("priority", absl::StrCat(submission.priority()), text);
  AddTime("submitted", record.submitted_micros(), now, text);
  AddTime("started", record.started_micros(), now, text);
  AddTime("ended", record.ended_micros(), now, text);
  AddLine("took", TookText(record, now), text);
  AddLine("starts",
          absl::StrCat(record.generation(), ", ", record.failures(),
                       " failed, ", submission.retries(), " retries"),
          text);
  if (submission.timeout_micros() != 0) {
    AddLine("timeout",
            ShortDuration(absl::Microseconds(submission.timeout_micros())),
            text);
  }
  for (const v1::TaskGroup& group : submission.groups()) {
    std::string needs = absl::StrCat(group.count(), ", each with ",
                                     ResourcesText(group.each()));
    if (!group.labels().empty()) {
      absl::StrAppend(&needs, ", on ", LabelsText(group.labels()));
    }
    AddLine(TypeText(group.type()), needs, text);
  }
  for (const std::string& each : submission.overrides()) {
    AddLine("set", each, text);
  }
  AddTasks(job, text);
  AddOutputs(job, text);
  AddResult(job, text);
  return text;
}

std::vector<std::vector<std::string>> JobRows(
    const std::vector<v1::JobView>& jobs, bool is_wide, absl::Time now) {
  std::vector<std::vector<std::string>> rows = {
      {"ID", "STATE", "TASKS", "AGE", "TOOK"}};
  if (is_wide) {
    rows[0].insert(rows[0].end(), {"USER", "PRIORITY", "STARTS", "ERROR"});
  }
  for (const v1::JobView& job : jobs) {
    const v1::JobRecord& record = job.record();
    std::vector<std::string>& row = rows.emplace_back();
    row = {record.id(), JobStateText(record.state()),
           GroupsText(record.submission()),
           ShortDuration(Since(record.submitted_micros(), now)),
           TookText(record, now)};
    if (!is_wide) continue;
    row.insert(row.end(), {record.submission().user(),
                           absl::StrCat(record.submission().priority()),
                           absl::StrCat(record.generation()), record.error()});
  }
  return rows;
}

std::vector<std::vector<std::string>> MemberRows(
    const std::vector<v1::MemberView>& members, bool is_wide, absl::Time now) {
  std::vector<std::vector<std::string>> rows = {
      {"NAME", "TYPE", "STATE", "JOBS", "CORES", "MEMORY", "GPUS"}};
  if (is_wide) {
    rows[0].insert(rows[0].end(), {"VERSION", "LABELS", "HEARD"});
  }
  for (const v1::MemberView& member : members) {
    const v1::DaemonRecord& record = member.record();
    const v1::Resources& used = member.used();
    const v1::Resources& total = record.total();
    std::vector<std::string>& row = rows.emplace_back();
    row = {record.name(),
           TypeText(record.type()),
           MemberStateText(member),
           absl::StrCat(member.jobs_size()),
           absl::StrCat(CoresText(used), "/", CoresText(total)),
           absl::StrCat(ShortSize(used.memory_bytes()), "/",
                        ShortSize(total.memory_bytes())),
           absl::StrCat(used.gpus(), "/", total.gpus())};
    if (!is_wide) continue;
    row.insert(row.end(),
               {record.version(), LabelsText(record.labels()),
                record.last_heard_micros() == 0
                    ? ""
                    : absl::StrCat(
                          ShortDuration(Since(record.last_heard_micros(), now)),
                          " ago")});
  }
  return rows;
}

ordered_json TokenJson(const v1::TokenRecord& token) {
  return {{"id", token.id()},
          {"user", token.user()},
          {"role", EnumText(v1::Role_Name(token.role()), "ROLE_")},
          {"created", TimeJson(token.created_micros())},
          {"last_used", TimeJson(token.last_used_micros())},
          {"expires", TimeJson(token.expires_micros())}};
}

std::vector<std::vector<std::string>> TokenRows(
    const std::vector<v1::TokenRecord>& tokens, absl::Time now) {
  std::vector<std::vector<std::string>> rows = {
      {"ID", "USER", "ROLE", "CREATED", "USED", "EXPIRES"}};
  const auto ago = [now](int64_t micros) {
    return micros == 0
               ? std::string()
               : absl::StrCat(ShortDuration(Since(micros, now)), " ago");
  };
  for (const v1::TokenRecord& token : tokens) {
    const int64_t expires = token.expires_micros();
    rows.push_back(
        {absl::StrCat(token.id()), token.user(),
         EnumText(v1::Role_Name(token.role()), "ROLE_"),
         ago(token.created_micros()), ago(token.last_used_micros()),
         expires == 0 ? "never"
         : Since(expires, now) >= absl::ZeroDuration()
             ? "over"
             : absl::StrCat("in ", ShortDuration(-Since(expires, now)))});
  }
  return rows;
}

}  // namespace paceline
