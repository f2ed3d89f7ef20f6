// Whether and how a client of a parameter server calls it through memory that
// they share.
#ifndef PACELINE_COMMON_RPC_PS_ATTACHMENT_H_
#define PACELINE_COMMON_RPC_PS_ATTACHMENT_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "common/base/mutex.h"
#include "common/rpc/slot_caller.h"
#include "paceline/v1/ps.grpc.pb.h"

namespace paceline {

// The memory lasts as long as a call of Attach, by which each side learns that
// the other is gone, as soon and with the same errors as of other calls.
// Thread-safe.
//
//   none ── Get ──> open ── refused ──────────────> never again
//    ^               └── Attach ends otherwise ──┐
//    └───────────────────────────────────────────┘
class PsAttachment {
 public:
  // `callee` is for logs: "ps-0 at 127.0.0.1:2222".
  PsAttachment(const std::shared_ptr<grpc::Channel>& channel,
               std::string callee);
  // Ends the calls that are open.
  ~PsAttachment();

  // A slot with room for so many bytes of values. Null where no memory can be
  // shared, and until the server has agreed to that, which this asks for and
  // does not wait for.
  std::shared_ptr<SlotCaller> Get(size_t values_size);

  // Whether Get has given a slot, and would again.
  bool is_served();

  // Ends open calls with Cancelled; there are no slots any more.
  void Cancel();

 private:
  struct Call;

  void Attach(size_t values_size);
  void Refuse(const absl::Status& reason) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Attach has ended.
  void Detach(Call& call, const absl::Status& status);

  const std::unique_ptr<v1::ParameterServerService::Stub> stub_;
  const std::string callee_;

  Mutex mutex_;
  CondVar closed_;
  // From before a slot is made until gRPC has let go of the call.
  bool is_open_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_refused_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_logged_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<SlotCaller> slot_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<grpc::ClientContext> context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_PS_ATTACHMENT_H_
