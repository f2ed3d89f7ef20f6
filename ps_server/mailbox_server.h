// The side that is called through memory of a worker on the same machine.
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

// Serves one mailbox: an adapter over the shard, as PsService is. Gradients are
// applied where they lie, and variables copied there. Nothing of the shard is
// locked while it waits for the worker.
class MailboxServer : public std::enable_shared_from_this<MailboxServer> {
 public:
  // `shard` outlives the server.
  MailboxServer(CallMailbox mailbox, Shard& shard)
      : mailbox_(std::move(mailbox)), shard_(shard) {}

  // Serves until Close, on the calling thread. A push that is held then keeps
  // the server, and so the memory, until it has its answer, which nobody reads.
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
  // Buffers for variables of these sizes, one after the other;
  // ResourceExhausted if there is no room.
  absl::Status MakeBuffers(
      const absl::StatusOr<absl::Span<const size_t>>& sizes);
  void Answer(const absl::Status& status,
              const google::protobuf::MessageLite& response);

  CallMailbox mailbox_;
  Shard& shard_;
  std::atomic<bool> is_closed_ = false;
  // Whether a call has no answer yet; then all below is that call's.
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
