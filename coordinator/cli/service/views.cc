#include "coordinator/cli/service/views.h"

#include <cstdint>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/peer_text.h"
#include "common/base/size_text.h"
#include "common/identity/role.h"
#include "coordinator/cli/service/json_views.h"
#include "coordinator/cli/service/table.h"
#include "coordinator/cli/service/units.h"
#include "coordinator/cli/service/words.h"
#include "coordinator/queue/resources.h"

namespace paceline {
namespace {

using ::nlohmann::ordered_json;

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

std::string ErrorText(const v1::Placement& placement) {
  if (placement.lost_outputs().empty()) return placement.error();
  return absl::StrCat(placement.error(), placement.error().empty() ? "" : "; ",
                      "outputs are lost: ", placement.lost_outputs());
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
         each.has_usage() ? SizeText(each.usage().peak_memory_bytes()) : "",
         ErrorText(each)});
  }
  absl::StrAppend(&text, "tasks:\n", TableText(rows, "  "));
}

void AddOutputs(const v1::JobView& job, std::string& text) {
  if (job.outputs().empty()) return;
  std::vector<std::vector<std::string>> rows = {{"OUTPUT", "SIZE"}};
  for (const v1::JobFile& file : job.outputs()) {
    rows.push_back({file.path(), SizeText(file.size_bytes())});
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

std::string JobText(const v1::JobView& job, absl::Time now) {
  const v1::JobRecord& record = job.record();
  const v1::Submission& submission = record.submission();
  std::string text;
  AddLine("id", record.id(), text);
  AddLine("name", submission.name(), text);
  AddLine("user", submission.user(), text);
  AddLine("state", JobStateText(record.state()), text);
  AddLine(record.state() == v1::JOB_STATE_QUEUED ? "why queued" : "held up",
          job.why_queued(), text);
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
  for (const std::string& each : UserOverrides(submission)) {
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
           absl::StrCat(SizeText(used.memory_bytes()), "/",
                        SizeText(total.memory_bytes())),
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
        {absl::StrCat(token.id()), token.user(), RoleName(token.role()),
         ago(token.created_micros()), ago(token.last_used_micros()),
         expires == 0 ? "never"
         : Since(expires, now) >= absl::ZeroDuration()
             ? "over"
             : absl::StrCat("in ", ShortDuration(-Since(expires, now)))});
  }
  return rows;
}

}  // namespace paceline
