// Where a server's calls come in.
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

// Takes the calls of a gRPC server over its asynchronous interface, on threads
// of ours. gRPC's callbacks would switch threads for each operation of a call
// (docs/design/identity.md).
//
// One thread makes, opens, closes and destroys it.
class CallDoor {
 public:
  // Has `builder` make a server whose calls come here. `service` outlives the
  // door.
  CallDoor(std::shared_ptr<CallGuard> guard, const RpcService& service,
           grpc::ServerBuilder& builder);
  // The door is closed, if it was opened, and its server is destroyed.
  ~CallDoor();

  // Takes the calls of `server`, which was built, on `thread_count` threads.
  void Open(int thread_count);
  // Shuts `server` down: cancels its calls after a short grace, and waits until
  // the service has finished them.
  void Close(grpc::Server& server);

 private:
  class Call;

  // Calls back for each operation that ends, until the queue is shut down and
  // empty.
  void Serve();
  // Waits for the next call, unless the door closes.
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
