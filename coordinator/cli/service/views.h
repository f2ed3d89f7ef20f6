// Jobs, daemons and tokens of a service, as text, tables and JSON.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_VIEWS_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_VIEWS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "paceline/v1/service.pb.h"

namespace paceline {

// "running"; the same names in all outputs.
std::string JobStateText(v1::JobState state);
// Whether the job has ended for good.
bool HasEnded(v1::JobState state);

// "leader", "ps-0", "worker-1".
std::string TaskText(const v1::Task& task);
// The inverse. InvalidArgument names the option --task.
absl::StatusOr<v1::Task> TaskFromText(absl::string_view text);

// All of a job, with times in RFC 3339 (UTC) or null. A result that is JSON
// becomes an object. `now` is the end of what has not ended.
nlohmann::ordered_json JobJson(const v1::JobView& job, absl::Time now);
// Without what ListJobs leaves out: tasks, files, outputs and result.
nlohmann::ordered_json JobSummaryJson(const v1::JobView& job, absl::Time now);
nlohmann::ordered_json MemberJson(const v1::MemberView& member);
nlohmann::ordered_json TokenJson(const v1::TokenRecord& token);

// All of a job, for people.
std::string JobText(const v1::JobView& job, absl::Time now);

// The first row has the columns' names.
std::vector<std::vector<std::string>> JobRows(
    const std::vector<v1::JobView>& jobs, bool is_wide, absl::Time now);
std::vector<std::vector<std::string>> MemberRows(
    const std::vector<v1::MemberView>& members, bool is_wide, absl::Time now);
std::vector<std::vector<std::string>> TokenRows(
    const std::vector<v1::TokenRecord>& tokens, absl::Time now);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_VIEWS_H_
