// The side that calls through memory shared with another process.
#ifndef PACELINE_COMMON_RPC_MAILBOX_CALLER_H_
#define PACELINE_COMMON_RPC_MAILBOX_CALLER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"
#include "common/rpc/call_group.h"
#include "common/rpc/call_mailbox.h"
#include "common/rpc/dense_values.h"
#include "google/protobuf/message_lite.h"

namespace paceline {

// A call as PsClient has it: all but `done` stays valid until it ends.
struct MailboxCall {
  MailboxMethod method = MailboxMethod::kPull;
  const google::protobuf::MessageLite* request = nullptr;
  absl::Span<const DenseValues> gradients;
  google::protobuf::MessageLite* response = nullptr;
  absl::Span<DenseBuffer> variables;
  // On the monotonic clock.
  absl::Time deadline;
  // Called from the caller's thread; must not block.
  CallDone done;
};

// Has a thread of its own, which waits for answers. Thread-safe.
//
//   new ── the callee serves ──> served ── End ──> ended
//    └────────────────── End ───────────────────────^
class MailboxCaller {
 public:
  // With room for `values_size` bytes of values in a call. Errors as of
  // CallMailbox::Create.
  static absl::StatusOr<std::shared_ptr<MailboxCaller>> Create(
      size_t values_size);

  // Where the callee finds the mailbox.
  const RegionReference& reference() const { return reference_; }
  uint64_t token() const { return token_; }
  size_t values_size() const { return mailbox_.values().size(); }
  bool is_served() const { return mailbox_.is_served(); }

  // Starts the call, unless the mailbox is not served, has a call whose answer
  // has not come, also after its deadline, or is too small: then the call is as
  // it was, and to be made in another way. Copies the gradients.
  //
  // The call ends with the callee's answer, which is ResourceExhausted if that
  // does not fit; with DeadlineExceeded; or with the reason of End.
  bool Start(MailboxCall& call);

  // Starts no more calls; false if it still has one.
  bool Retire();

  // The callee is gone, or no longer wanted: ends the open call, and the
  // thread. Later calls do not start. To be called before the caller is let go;
  // the first reason counts.
  void End(const absl::Status& reason);

 private:
  MailboxCaller(CallMailbox mailbox, const RegionReference& reference,
                uint64_t token)
      : mailbox_(std::move(mailbox)), reference_(reference), token_(token) {}

  // Whether a call can be written; then others cannot until it is posted.
  bool Reserve();
  // False if there is no room for the call, or nobody who would answer it.
  bool Write(const MailboxCall& call);
  bool Post(MailboxCall& call);
  void Run();
  // A call that is over, and how.
  struct Ended {
    MailboxCall call;
    absl::Status status;
    bool is_answered = false;
  };
  // The open call, if it is over.
  std::optional<Ended> NextEnded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Reads the answer to `call`.
  absl::Status ReadAnswer(const MailboxCall& call);

  CallMailbox mailbox_;
  const RegionReference reference_;
  const uint64_t token_;
  // Of whoever writes.
  std::string content_;
  std::vector<DenseValues> blocks_;
  // Of the thread.
  MailboxMessage answer_;

  Mutex mutex_;
  // Of the mailbox. A call that was posted keeps it until the answer, which may
  // come after the call has ended.
  enum class State { kFree, kWriting, kPosted };
  State state_ ABSL_GUARDED_BY(mutex_) = State::kFree;
  // Of the last call that was posted.
  uint32_t number_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<MailboxCall> open_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  // When the thread looks for deadlines again.
  absl::Time looks_at_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_MAILBOX_CALLER_H_
