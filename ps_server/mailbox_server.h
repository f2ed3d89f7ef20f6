// The server's side of calls through shared memory with a worker on the same
// machine.
#ifndef PACELINE_PS_SERVER_MAILBOX_SERVER_H_
#define PACELINE_PS_SERVER_MAILBOX_SERVER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/rpc/call_mailbox.h"
#include "common/rpc/dense_values.h"
#include "google/protobuf/message_lite.h"
#include "paceline/v1/ps.pb.h"
#include "ps_server/shard.h"

namespace paceline {

// Serves one mailbox: an adapter over the shard, like PsService. It applies
// gradients from the shared memory and copies variables into it. No lock of the
// shard is held while it waits for the worker.
class MailboxServer : public std::enable_shared_from_this<MailboxServer> {
 public:
  // `shard` must outlive the server.
  MailboxServer(CallMailbox mailbox, Shard& shard)
      : mailbox_(std::move(mailbox)), shard_(shard) {}

  // Blocks and serves calls until Close. If a push is still held then, the
  // server and the memory stay alive until the push has its answer, which
  // nobody reads.
  void Run();
  // Thread-safe.
  void Close();

 private:
  void Handle();
  void Push();
  template <typename Request, typename Response>
  void AnswerWithVariables(
      Request& request, Response& response,
      absl::Status (Shard::*method)(const Request&, Response&,
                                    absl::Span<DenseBuffer>));
  // Makes buffers for variables of these sizes, one after the other;
  // ResourceExhausted if the mailbox has no room.
  absl::Status MakeBuffers(
      const absl::StatusOr<absl::Span<const size_t>>& sizes);
  void Answer(const absl::Status& status,
              const google::protobuf::MessageLite& response);

  CallMailbox mailbox_;
  Shard& shard_;
  std::atomic<bool> is_closed_ = false;
  // Whether a call has no answer yet. If so, the members below belong to that
  // call.
  std::atomic<bool> is_open_ = false;
  uint32_t number_ = 0;
  MailboxMessage call_;
  std::vector<DenseBuffer> buffers_;
  std::string content_;
  std::vector<DenseValues> blocks_;
  v1::PushRequest push_request_;
  v1::PushResponse push_response_;
  v1::ApplyRequest apply_request_;
  v1::ApplyResponse apply_response_;
  v1::PullRequest pull_request_;
  v1::PullResponse pull_response_;
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_MAILBOX_SERVER_H_
