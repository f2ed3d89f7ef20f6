#include "coordinator/cli/service/json_views.h"

#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/ascii.h"
#include "common/identity/role.h"
#include "coordinator/cli/service/words.h"

namespace paceline {
namespace {

using ::nlohmann::ordered_json;

ordered_json TimeJson(int64_t micros) {
  return micros == 0 ? ordered_json() : ordered_json(TimeText(micros));
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
                       {"error", placement.error()},
                       {"lost_outputs", placement.lost_outputs()}};
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

}  // namespace

nlohmann::ordered_json ResultJson(const std::string& text) {
  if (text.empty()) return nullptr;
  ordered_json json =
      ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? ordered_json(text) : json;
}

nlohmann::ordered_json JobSummaryJson(const v1::JobView& job, absl::Time now) {
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

nlohmann::ordered_json JobJson(const v1::JobView& job, absl::Time now) {
  ordered_json json = JobSummaryJson(job, now);
  json["overrides"] = ordered_json::array();
  for (const std::string& each : UserOverrides(job.record().submission())) {
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

nlohmann::ordered_json MemberJson(const v1::MemberView& member) {
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

nlohmann::ordered_json TokenJson(const v1::TokenRecord& token) {
  return {{"id", token.id()},
          {"user", token.user()},
          {"role", RoleName(token.role())},
          {"created", TimeJson(token.created_micros())},
          {"last_used", TimeJson(token.last_used_micros())},
          {"expires", TimeJson(token.expires_micros())}};
}

}  // namespace paceline
