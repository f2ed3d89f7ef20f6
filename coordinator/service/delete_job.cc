#include "coordinator/service/delete_job.h"

#include <glog/logging.h>

#include "common/base/status_macros.h"

namespace paceline {

absl::Status DeleteJob(SharedQueue& queue, LogStore& logs,
                       const std::string& id, absl::string_view reason,
                       absl::FunctionRef<absl::Status(const JobQueue&)> check) {
  RETURN_IF_ERROR(queue.Handle([&](SharedQueue::Books books) -> absl::Status {
    RETURN_IF_ERROR(check(books.queue));
    return books.queue.DeleteJob(id);
  }));
  LOG(INFO) << id << " is deleted: " << reason;
  return logs.Remove(id);
}

}  // namespace paceline
