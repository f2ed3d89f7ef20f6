// A connection to another task, and the calls over it.
//
// Each call carries a header that says who calls for which job, and proves it
// (proto/paceline/v1/call.proto). The first call over a new connection learns
// its challenge from a refusal and is made again, which nobody above sees.
#ifndef PACELINE_COMMON_RPC_CALL_CHANNEL_H_
#define PACELINE_COMMON_RPC_CALL_CHANNEL_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/identity/caller.h"

namespace paceline {

// Thread-safe.
class CallChannel {
 public:
  // `address` is "host:port".
  CallChannel(const std::string& address, std::shared_ptr<const Caller> caller);
  // No call may be open. Waits for threads that are still on their way out of
  // making one.
  ~CallChannel();

  struct Options {
    // The call ends with DeadlineExceeded after this; infinite: never by
    // itself.
    absl::Duration timeout = absl::InfiniteDuration();
    // Whether it ends with Unavailable when an attempt to connect has failed,
    // or waits for a connection.
    bool fail_fast = false;
  };
  // Gets the answer, or the error; runs on a thread of gRPC's, and must not
  // block. The channel may be destroyed from then on.
  using Done = std::function<void(absl::Status, grpc::ByteBuffer&)>;

  // Calls `method`, "/service/Method". Returns at once with the number of the
  // call.
  uint64_t Start(const std::string& method, grpc::ByteBuffer request,
                 const Options& options, Done done);

  // Ends a call with Cancelled, if it is open.
  void Cancel(uint64_t call);
  // Ends all open calls, and those to come, with Cancelled.
  void CancelAll();

 private:
  using Context = std::shared_ptr<grpc::ClientContext>;
  struct Call;

  // Makes the call, once more if it was made before.
  void Attempt(const std::shared_ptr<Call>& call);
  // The attempt has ended.
  void End(const std::shared_ptr<Call>& call, const grpc::Status& status);
  // Takes the challenge of a refusal over; whether the call was not proven with
  // it, so that it may be admitted when it is.
  bool Learn(const Call& call, const grpc::ClientContext& context,
             const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  grpc::GenericStub stub_;
  const std::shared_ptr<const Caller> caller_;
  Mutex mutex_;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  // Threads in Attempt.
  int attempting_ ABSL_GUARDED_BY(mutex_) = 0;
  CondVar attempted_;
  uint64_t last_call_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t last_sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  // Of the connection at hand, as far as is known.
  std::string challenge_ ABSL_GUARDED_BY(mutex_);
  // The open calls.
  std::map<uint64_t, std::shared_ptr<Call>> open_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_CALL_CHANNEL_H_
