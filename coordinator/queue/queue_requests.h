// Checks what people and daemons send to the queue.
#ifndef PACELINE_COORDINATOR_QUEUE_QUEUE_REQUESTS_H_
#define PACELINE_COORDINATOR_QUEUE_QUEUE_REQUESTS_H_

#include "absl/status/status.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

// InvalidArgument, with the field, its value and what is expected, unless:
//  * The name, the user and the key are of a sensible length.
//  * There is at least one group, at most one of each type, and a worker.
//  * Numbers are within limits, so that sums over all tasks do not overflow.
absl::Status CheckSubmission(const v1::Submission& submission);

// The same for a daemon's message. No task is in it twice.
absl::Status CheckSync(const v1::SyncRequest& request);

// The same for a daemon's record.
absl::Status CheckDaemon(const v1::DaemonRecord& record);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_QUEUE_QUEUE_REQUESTS_H_
