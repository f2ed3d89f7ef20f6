// Sets up shared memory between a client and its parameter server.
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

// An Attach call stays open as long as the memory is used. By its end each side
// learns that the other is gone, as soon and with the same errors as for other
// calls. Its proof also covers the calls that go through the memory.
// Thread-safe.
//
//   none ── Get ──> open ── refused ──────────────> never again
//    ^               └── Attach ends otherwise ──┐
//    └───────────────────────────────────────────┘
class PsAttachment {
 public:
  // `callee`: for logs, "ps-0 at 127.0.0.1:2222". `channel` must outlive the
  // object.
  PsAttachment(CallChannel& channel, std::string callee);
  // Ends open calls.
  ~PsAttachment();

  // A mailbox for `values_size` bytes of values. Null if memory cannot be
  // shared, or the server has not agreed yet; in the latter case this starts an
  // Attach call, and does not wait for it.
  std::shared_ptr<MailboxCaller> Get(size_t values_size);

  // Whether Get has returned a mailbox, and would do so again.
  bool is_served();

  // Ends open calls with Cancelled. Get returns null from now on.
  void Cancel();

 private:
  void Attach(size_t values_size);
  void Refuse(const absl::Status& reason) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the Attach call.
  void EndCall();
  // The Attach call has ended.
  void Detach(const std::shared_ptr<MailboxCaller>& mailbox,
              const absl::Status& status);

  CallChannel& channel_;
  const std::string callee_;

  Mutex mutex_;
  CondVar closed_;
  // True from before a mailbox is created until gRPC has released the call.
  bool is_open_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_refused_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_logged_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<MailboxCaller> mailbox_ ABSL_GUARDED_BY(mutex_);
  // Number of the Attach call, once known; and whether to end it.
  uint64_t call_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_PS_ATTACHMENT_H_
