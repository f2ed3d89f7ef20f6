// Jobs, daemons and tokens of a service, as text and tables.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_VIEWS_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_VIEWS_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

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
