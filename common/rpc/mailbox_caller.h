// The caller's side of a mailbox.
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

// A call of PsClient. Everything but `done` must stay valid until the call
// ends.
struct MailboxCall {
  MailboxMethod method = MailboxMethod::kPull;
  const google::protobuf::MessageLite* request = nullptr;
  absl::Span<const DenseValues> gradients;
  google::protobuf::MessageLite* response = nullptr;
  absl::Span<DenseBuffer> variables;
  // In the time of MonotonicNow.
  absl::Time deadline;
  // Called on the mailbox caller's thread; must not wait for other calls.
  CallDone done;
};

// A thread of its own waits for answers. Thread-safe.
//
//   new ── the callee serves ──> served ── End ──> ended
//    └────────────────── End ───────────────────────^
class MailboxCaller {
 public:
  // Creates a mailbox for `values_size` bytes of values per call. Errors: see
  // CallMailbox::Create.
  static absl::StatusOr<std::shared_ptr<MailboxCaller>> Create(
      size_t values_size);

  // How the callee finds the mailbox.
  const RegionReference& reference() const { return reference_; }
  uint64_t token() const { return token_; }
  size_t values_size() const { return mailbox_.values().size(); }
  bool is_served() const { return mailbox_.is_served(); }

  // Starts the call and copies its gradients. Returns false, and leaves the
  // call unchanged, if the callee does not serve the mailbox yet, the mailbox
  // is busy or too small, or the last call's answer has not arrived (even if
  // its deadline has passed). The caller must then use gRPC.
  //
  // The call ends with the callee's answer (ResourceExhausted if the answer
  // does not fit), with DeadlineExceeded, or with the reason given to End.
  bool Start(MailboxCall& call);

  // Starts no more calls. Returns false if a call is still open.
  bool Retire();

  // The callee is gone, or no longer needed: ends the open call and the thread.
  // Later calls do not start. Must be called before the object is released; the
  // first reason wins.
  void End(const absl::Status& reason);

 private:
  MailboxCaller(CallMailbox mailbox, const RegionReference& reference,
                uint64_t token)
      : mailbox_(std::move(mailbox)), reference_(reference), token_(token) {}

  // Reserves the mailbox for writing a call, until it is posted. False if it is
  // not free.
  bool Reserve();
  // False if the call does not fit, or the callee is gone.
  bool Write(const MailboxCall& call);
  bool Post(MailboxCall& call);
  void Run();
  // A call that has ended, with its status.
  struct Ended {
    MailboxCall call;
    absl::Status status;
    bool is_answered = false;
  };
  // The open call, if it has ended.
  std::optional<Ended> NextEnded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Reads the answer to `call`.
  absl::Status ReadAnswer(const MailboxCall& call);

  CallMailbox mailbox_;
  const RegionReference reference_;
  const uint64_t token_;
  // Used by the thread that writes.
  std::string content_;
  std::vector<DenseValues> blocks_;
  // Used by the mailbox caller's own thread.
  MailboxMessage answer_;

  Mutex mutex_;
  // The state of the mailbox. A posted call occupies it until its answer
  // arrives, which may be after the call has ended.
  enum class State { kFree, kWriting, kPosted };
  State state_ ABSL_GUARDED_BY(mutex_) = State::kFree;
  // Number of the last posted call.
  uint32_t number_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<MailboxCall> open_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  // When the thread next checks deadlines.
  absl::Time looks_at_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_MAILBOX_CALLER_H_
