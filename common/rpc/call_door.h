// Receives the calls of a server.
#ifndef PACELINE_COMMON_RPC_CALL_DOOR_H_
#define PACELINE_COMMON_RPC_CALL_DOOR_H_

#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"
#include "common/identity/call_guard.h"
#include "common/rpc/rpc_service.h"

namespace paceline {

// Time from the header of a call that needs no proof until its request must
// have arrived; clients send both at once. It is given twice, since the threads
// may have been busy with other calls the first time. gRPC puts a message
// together before its size can be checked, so this bounds the memory that
// strangers may fill: 125 MB over 10 Gbit/s.
inline constexpr absl::Duration kUnprovenTimeout = absl::Milliseconds(50);

// Handles the calls of a gRPC server with its asynchronous API, on our own
// threads. gRPC's callback API would switch threads for each operation of a
// call (docs/design/identity.md).
//
// The object must be created, opened, closed and destroyed by the same thread.
class CallDoor {
 public:
  // Registers with `builder`, so that the server's calls arrive here. The
  // services must outlive the object, and have different methods.
  CallDoor(std::shared_ptr<CallGuard> guard,
           absl::Span<RpcService* const> services,
           grpc::ServerBuilder& builder);
  // Call Close first, if Open was called, and destroy the server.
  ~CallDoor();

  // Starts to handle the calls of `server`, which `builder` has built, on
  // `thread_count` threads.
  void Open(int thread_count);
  // Shuts `server` down: cancels open calls after a short grace, and blocks
  // until the services have finished them.
  void Close(grpc::Server& server);

 private:
  class Call;

  // Runs callbacks of operations until the queue is shut down and empty.
  void Serve();
  // Waits for the next call, unless the server is closing.
  void AwaitCall();
  void WaitForCalls();
  void EndCall();

  const std::shared_ptr<CallGuard> guard_;
  // By "/service/Method".
  std::map<absl::string_view, const RpcMethod*> methods_;
  grpc::AsyncGenericService generic_;
  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::vector<std::thread> threads_;
  Mutex mutex_;
  bool closes_ ABSL_GUARDED_BY(mutex_) = false;
  // Calls that are awaited or have not ended.
  int call_count_ ABSL_GUARDED_BY(mutex_) = 0;
  CondVar ended_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_CALL_DOOR_H_
