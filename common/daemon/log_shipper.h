// Sends what a task writes to its log file to the coordinator, and the progress
// of a leader's job.
#ifndef PACELINE_COMMON_DAEMON_LOG_SHIPPER_H_
#define PACELINE_COMMON_DAEMON_LOG_SHIPPER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/file_descriptor.h"
#include "common/rpc/service_client.h"
#include "paceline/v1/queue.pb.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

// Not thread-safe.
class LogShipper {
 public:
  // The client must outlive it. `progress_path`: the file with the progress of
  // the job; "" unless the task is its leader.
  LogShipper(ServiceClient& client, v1::JobTask task, std::string path,
             std::string progress_path)
      : client_(client),
        task_(std::move(task)),
        path_(std::move(path)),
        progress_path_(std::move(progress_path)) {}

  // Sends a piece, if there is one. Returns whether there was: there may be
  // more. New progress goes with a piece, or by itself: at each call if
  // somebody follows it, else every few seconds. Blocks on the call and the
  // disk.
  absl::StatusOr<bool> Ship();

  // The coordinator is another process, which has no progress yet: the next
  // Ship sends it, also if it is not new.
  void SendProgressAgain();

 private:
  // Reads the next piece. Returns whether there is one.
  absl::StatusOr<bool> ReadText(std::string& text);
  // Adds the progress to the request if it is new. Returns whether it is.
  bool AddProgress(v1::AppendLogRequest& request);

  ServiceClient& client_;
  const v1::JobTask task_;
  const std::string path_;
  const std::string progress_path_;
  FileDescriptor file_;
  // As much of it the coordinator has.
  uint64_t shipped_ = 0;
  // The content of the file with the progress that the coordinator has.
  std::string shipped_progress_;
  // Progress without text is not sent before.
  absl::Time next_progress_ = absl::InfinitePast();
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_LOG_SHIPPER_H_
