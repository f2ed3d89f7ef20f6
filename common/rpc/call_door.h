// Receives the calls of a server.
#ifndef PACELINE_COMMON_RPC_CALL_DOOR_H_
#define PACELINE_COMMON_RPC_CALL_DOOR_H_

#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <thread>
#include <vector>

#include "common/base/mutex.h"
#include "common/identity/call_guard.h"
#include "common/rpc/rpc_service.h"

namespace paceline {

// Handles the calls of a gRPC server with its asynchronous API, on our own
// threads. gRPC's callback API would switch threads for each operation of a
// call (docs/design/identity.md).
//
// The object must be created, opened, closed and destroyed by the same thread.
class CallDoor {
 public:
  // Registers with `builder`, so that the server's calls arrive here. `service`
  // must outlive the object.
  CallDoor(std::shared_ptr<CallGuard> guard, const RpcService& service,
           grpc::ServerBuilder& builder);
  // Call Close first, if Open was called, and destroy the server.
  ~CallDoor();

  // Starts to handle the calls of `server`, which `builder` has built, on
  // `thread_count` threads.
  void Open(int thread_count);
  // Shuts `server` down: cancels open calls after a short grace, and blocks
  // until the service has finished them.
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
  const RpcService& service_;
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
