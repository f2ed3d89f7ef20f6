// Deletes a job: what a person asks for, and what happens to old ones.
#ifndef PACELINE_COORDINATOR_SERVICE_DELETE_JOB_H_
#define PACELINE_COORDINATOR_SERVICE_DELETE_JOB_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "coordinator/service/shared_queue.h"
#include "coordinator/store/log_store.h"

namespace paceline {

// Deletes the job with its logs; its files go with the next sweep, unless other
// jobs have them, too. `check` says whether it may, in the same event. The
// reason is logged. Errors are those of `check`, JobQueue::DeleteJob and
// LogStore::Remove.
absl::Status DeleteJob(SharedQueue& queue, LogStore& logs,
                       const std::string& id, absl::string_view reason,
                       absl::FunctionRef<absl::Status(const JobQueue&)> check);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_DELETE_JOB_H_
