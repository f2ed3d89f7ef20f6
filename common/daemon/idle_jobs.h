// Which jobs have a folder on this machine and no task.
#ifndef PACELINE_COMMON_DAEMON_IDLE_JOBS_H_
#define PACELINE_COMMON_DAEMON_IDLE_JOBS_H_

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/time/time.h"

namespace paceline {

// A job's folder is kept for so long after its last task here, since the job
// may be started again and would have to fetch its files.
inline constexpr absl::Duration kKeepIdleJob = absl::Hours(1);

// Not thread-safe.
class IdleJobs {
 public:
  // `folder` has a folder for each job. Those that are there now, of an earlier
  // process, count from `now` on.
  IdleJobs(std::string folder, absl::Time now);

  // Removes the folders of jobs that were not `used` for kKeepIdleJob. Blocks
  // on the disk.
  void Tidy(const std::set<std::string>& used, absl::Time now);

 private:
  const std::string folder_;
  // The last time that each was used.
  std::map<std::string, absl::Time> last_used_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_IDLE_JOBS_H_
