// The words for jobs, tasks, daemons, tokens and times that all outputs share.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_WORDS_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_WORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

// "running".
std::string JobStateText(v1::JobState state);

// "worker"; "over".
std::string TypeText(v1::TaskType type);
std::string TaskStateText(v1::TaskState state);
// "open", "closed", "drained", "leaving" or "lost".
std::string MemberStateText(const v1::MemberView& member);

// The changes that the user made to the job, without the one by which a
// submission keeps the name of a job that has none (bundle.h).
std::vector<std::string> UserOverrides(const v1::Submission& submission);

// "leader", "ps-0", "worker-1".
std::string TaskText(const v1::Task& task);
// The inverse. InvalidArgument names the option --task.
absl::StatusOr<v1::Task> TaskFromText(absl::string_view text);
// InvalidArgument, which names the tasks that there are, unless the job has
// this one.
absl::Status CheckHasTask(const v1::Submission& submission,
                          const v1::Task& task);

// RFC 3339, in UTC, of microseconds since 1970.
std::string TimeText(int64_t micros);
absl::Duration Since(int64_t micros, absl::Time now);
// How long the job has taken since its first start; `now` is the end of one
// that has not ended.
absl::Duration Took(const v1::JobRecord& record, absl::Time now);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_WORDS_H_
