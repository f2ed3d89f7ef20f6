// A daemon's messages to the coordinator, and the answers.
#ifndef PACELINE_COMMON_DAEMON_SYNC_LINE_H_
#define PACELINE_COMMON_DAEMON_SYNC_LINE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/rpc/service_client.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

// Not thread-safe.
class SyncLine {
 public:
  struct Answer {
    // Of the message.
    uint64_t sequence = 0;
    absl::StatusOr<v1::SyncResponse> response;
  };

  // The client must outlive it.
  explicit SyncLine(ServiceClient& client);
  // Ends all calls of the client, and waits for the ends of its own.
  ~SyncLine();

  // Does not block.
  void Send(const v1::SyncRequest& request);
  // The answers since the last call. If there is none, waits for one for at
  // most `time`.
  std::vector<Answer> Take(absl::Duration time);
  // Messages without an answer yet.
  int open() const;

 private:
  // Where gRPC's threads put answers.
  struct Mailbox;
  ServiceClient& client_;
  const std::shared_ptr<Mailbox> mailbox_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_SYNC_LINE_H_
