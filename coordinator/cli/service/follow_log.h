// Prints a task's log while it grows, over all starts of its job.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_FOLLOW_LOG_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_FOLLOW_LOG_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/cli/service/service_verb.h"

namespace paceline {

struct LogPlace {
  std::string job;
  v1::Task task = v1::Task();
  // Which start of the job, from 1.
  uint32_t generation = 1;
  uint64_t offset = 0;
};

// Prints the log from `place` on; that of a leader on a terminal with a
// progress bar, as `coordinator run` draws it, and with control characters
// escaped. Goes on with the log of the next start until the job has ended, and
// returns the job then; if not `all_starts`, returns once this start is over.
absl::StatusOr<v1::JobView> FollowLog(const VerbContext& context,
                                      const LogPlace& place, bool all_starts);

// Gives `take` the log that there is now, from `place` on, in pieces. Returns
// where it ends.
absl::StatusOr<uint64_t> ReadWholeLog(
    const VerbContext& context, const LogPlace& place,
    absl::FunctionRef<absl::Status(absl::string_view)> take);

// The last `lines` lines of the log as it is now, without line breaks that
// belong to lines before. Sets where the log ends.
absl::StatusOr<std::string> ReadLogTail(const VerbContext& context,
                                        const LogPlace& place, uint64_t lines,
                                        uint64_t* end);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_FOLLOW_LOG_H_
