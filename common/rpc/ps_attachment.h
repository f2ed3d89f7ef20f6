// Whether and how a client of a parameter server calls it through memory that
// they share.
#ifndef PACELINE_COMMON_RPC_PS_ATTACHMENT_H_
#define PACELINE_COMMON_RPC_PS_ATTACHMENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "common/base/mutex.h"
#include "common/rpc/call_channel.h"
#include "common/rpc/mailbox_caller.h"

namespace paceline {

// The memory lasts as long as a call of Attach, by which each side learns that
// the other is gone, as soon and with the same errors as of other calls. The
// proof of that call is the proof of those that go through the memory.
// Thread-safe.
//
//   none ── Get ──> open ── refused ──────────────> never again
//    ^               └── Attach ends otherwise ──┐
//    └───────────────────────────────────────────┘
class PsAttachment {
 public:
  // `callee` is for logs: "ps-0 at 127.0.0.1:2222". `channel` outlives this.
  PsAttachment(CallChannel& channel, std::string callee);
  // Ends the calls that are open.
  ~PsAttachment();

  // A mailbox with room for so many bytes of values. Null where no memory can
  // be shared, and until the server has agreed to that, which this asks for and
  // does not wait for.
  std::shared_ptr<MailboxCaller> Get(size_t values_size);

  // Whether Get has given a mailbox, and would again.
  bool is_served();

  // Ends open calls with Cancelled; there are no mailboxes any more.
  void Cancel();

 private:
  void Attach(size_t values_size);
  void Refuse(const absl::Status& reason) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the call of Attach.
  void EndCall();
  // It has ended.
  void Detach(const std::shared_ptr<MailboxCaller>& mailbox,
              const absl::Status& status);

  CallChannel& channel_;
  const std::string callee_;

  Mutex mutex_;
  CondVar closed_;
  // From before a mailbox is made until gRPC has let go of the call.
  bool is_open_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_refused_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_logged_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<MailboxCaller> mailbox_ ABSL_GUARDED_BY(mutex_);
  // The call of Attach, once its number is known, and whether it is to end.
  uint64_t call_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_PS_ATTACHMENT_H_
