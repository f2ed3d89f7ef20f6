// The RPC methods of a parameter server: an adapter from calls to the shard.
#ifndef PACELINE_PS_SERVER_PS_SERVICE_H_
#define PACELINE_PS_SERVER_PS_SERVICE_H_

#include <atomic>
#include <cstddef>
#include <memory>

#include "common/base/mutex.h"
#include "common/limits.h"
#include "common/rpc/rpc_service.h"
#include "paceline/v1/ps.pb.h"
#include "ps_server/grpc_messages.h"
#include "ps_server/shard.h"

namespace paceline {

// Thread-safe. Calls that take long run on threads of their own: Initialize,
// and ChangeVariables, which may read a checkpoint; Snapshot, which waits for
// open pushes; and each Attach. The thread that writes a checkpoint completes
// WriteCheckpoint.
class PsService : public RpcService {
 public:
  // `shard` must outlive the service.
  explicit PsService(Shard& shard);
  // Destroy the server that uses the service first. Joins all threads.
  ~PsService() override;

  // Requests with blocks of more bytes are refused from now on.
  void SetMaxDataBytes(size_t bytes) { max_data_bytes_ = bytes; }

 private:
  void AddControl();
  // Adds a method whose calls run on threads of their own: handle(request,
  // response) returns the status.
  template <typename Request, typename Response, typename Handle>
  void AddLong(absl::string_view method, size_t max_request_bytes,
               Handle handle);
  void AddData();
  void Push(ServerCall& call);
  template <typename Request, typename Response>
  void AnswerWithVariables(
      ServerCall& call, absl::Status (Shard::*method)(const Request&, Response&,
                                                      absl::Span<DenseBuffer>));
  // Serves the caller through the memory that it shares, until the caller gives
  // up.
  void Attach(ServerCall& call);
  // Runs `work` on a new thread. ResourceExhausted if no thread can be started.
  absl::Status RunApart(std::function<void()> work);

  Shard& shard_;
  std::atomic<size_t> max_data_bytes_ = limits::kMaxMessageBytes;
  // Shared, since calls whose answers are still being sent use the memory.
  const std::shared_ptr<BlockMemoryPool> memory_;
  Mutex mutex_;
  CondVar thread_ended_;
  int thread_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_PS_SERVICE_H_
