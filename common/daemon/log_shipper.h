// Sends what a task writes to its log file to the coordinator.
#ifndef PACELINE_COMMON_DAEMON_LOG_SHIPPER_H_
#define PACELINE_COMMON_DAEMON_LOG_SHIPPER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/file_descriptor.h"
#include "common/rpc/service_client.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

// Not thread-safe.
class LogShipper {
 public:
  // The client must outlive it.
  LogShipper(ServiceClient& client, v1::JobTask task, std::string path)
      : client_(client), task_(std::move(task)), path_(std::move(path)) {}

  // Sends a piece, if there is one. Returns whether there was: there may be
  // more. Blocks on the call and the disk.
  absl::StatusOr<bool> Ship();

 private:
  ServiceClient& client_;
  const v1::JobTask task_;
  const std::string path_;
  FileDescriptor file_;
  // As much of it the coordinator has.
  uint64_t shipped_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_LOG_SHIPPER_H_
