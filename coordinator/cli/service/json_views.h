// Jobs, daemons and tokens of a service, as JSON.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_JSON_VIEWS_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_JSON_VIEWS_H_

#include <string>

#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "paceline/v1/service.pb.h"

namespace paceline {

// All of a job, with times in RFC 3339 (UTC) or null. `now` is the end of what
// has not ended.
nlohmann::ordered_json JobJson(const v1::JobView& job, absl::Time now);
// Without what ListJobs leaves out: tasks, files, outputs and result.
nlohmann::ordered_json JobSummaryJson(const v1::JobView& job, absl::Time now);
// The content of a result.json: null if there is none; what is no JSON stays
// text.
nlohmann::ordered_json ResultJson(const std::string& text);
nlohmann::ordered_json MemberJson(const v1::MemberView& member);
nlohmann::ordered_json TokenJson(const v1::TokenRecord& token);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_JSON_VIEWS_H_
