// A connection to another task, and calls over it.
//
// Each call has a header that says who calls for which job, and proves it
// (proto/paceline/v1/call.proto). The first call over a new connection is
// refused with the connection's challenge, and then repeated automatically with
// a proof.
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
#include "common/rpc/keepalive.h"

namespace paceline {

// Thread-safe.
class CallChannel {
 public:
  // `address` is "host:port". The caller says whether it is over TLS.
  CallChannel(const std::string& address, std::shared_ptr<const Caller> caller,
              const Keepalive& keepalive = kTaskKeepalive);
  // All calls must have ended. Blocks until threads that are still leaving
  // Start have left it.
  ~CallChannel();

  struct Options {
    // After this time the call ends with DeadlineExceeded; infinite: it has no
    // deadline.
    absl::Duration timeout = absl::InfiniteDuration();
    // Whether the call ends with Unavailable when an attempt to resolve the
    // name or to connect fails. Otherwise it waits for a connection.
    bool fail_fast = false;
  };
  // Gets the answer or the error, on one of gRPC's threads; must not block. It
  // may destroy the channel.
  using Done = std::function<void(absl::Status, grpc::ByteBuffer&)>;

  // Calls `method`, "/service/Method". Does not block; returns the number of
  // the call, for Cancel.
  uint64_t Start(const std::string& method, grpc::ByteBuffer request,
                 const Options& options, Done done);

  // Ends a call with Cancelled, if it is open.
  void Cancel(uint64_t call);
  // Ends all open and all future calls with Cancelled.
  void CancelAll();

 private:
  using Context = std::shared_ptr<grpc::ClientContext>;
  struct Call;

  // Makes an attempt at the call.
  void Attempt(const std::shared_ptr<Call>& call);
  // An attempt has ended.
  void End(const std::shared_ptr<Call>& call, const grpc::Status& status);
  // Stores the challenge in a refusal. Returns whether the call should be
  // repeated: it was not proven with this challenge yet.
  bool Learn(const Call& call, const grpc::ClientContext& context,
             const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  grpc::GenericStub stub_;
  const std::shared_ptr<const Caller> caller_;
  Mutex mutex_;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  // Number of threads in Attempt.
  int attempting_ ABSL_GUARDED_BY(mutex_) = 0;
  CondVar attempted_;
  uint64_t last_call_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t last_sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  // The challenge of the current connection, if known.
  std::string challenge_ ABSL_GUARDED_BY(mutex_);
  // Open calls by number.
  std::map<uint64_t, std::shared_ptr<Call>> open_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_CALL_CHANNEL_H_
