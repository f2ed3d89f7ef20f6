// The methods of a parameter server, as calls reach them: an adapter over the
// shard.
#ifndef PACELINE_PS_SERVER_PS_SERVICE_H_
#define PACELINE_PS_SERVER_PS_SERVICE_H_

#include <cstddef>
#include <memory>

#include "common/base/mutex.h"
#include "common/limits.h"
#include "common/rpc/rpc_service.h"
#include "paceline/v1/ps.pb.h"
#include "ps_server/grpc_messages.h"
#include "ps_server/shard.h"

namespace paceline {

// Thread-safe. What takes long has a thread of its own: Initialize, which may
// read a checkpoint, Snapshot, which lets the pushes under way end first, and
// each worker that attaches. What waits for the disk ends on the thread that
// writes.
class PsService : public RpcService {
 public:
  // `shard` outlives the service. A request with blocks of more bytes is
  // refused.
  explicit PsService(Shard& shard,
                     size_t max_data_bytes = limits::kMaxMessageBytes);
  // The server that offers it is gone. Waits for all threads.
  ~PsService() override;

 private:
  void AddControl();
  // A method that has a thread of its own: handle(request, response) returns
  // its status.
  template <typename Request, typename Response, typename Handle>
  void AddLong(absl::string_view method, size_t max_request_bytes,
               Handle handle);
  void AddData(size_t max_data_bytes);
  void Push(ServerCall& call);
  template <typename Request, typename Response>
  void AnswerWithVariables(
      ServerCall& call, absl::Status (Shard::*method)(const Request&, Response&,
                                                      absl::Span<DenseBuffer>));
  // Serves the caller through the memory that it offers, until it gives up.
  void Attach(ServerCall& call);
  // Has `work` run on a thread of its own. ResourceExhausted if there is none.
  absl::Status RunApart(std::function<void()> work);

  Shard& shard_;
  // Shared with calls whose answers are still being sent.
  const std::shared_ptr<BlockMemoryPool> memory_;
  Mutex mutex_;
  CondVar thread_ended_;
  int thread_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_PS_SERVICE_H_
