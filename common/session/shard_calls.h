// The leader's calls to the parameter servers, made for a session's actions.
#ifndef PACELINE_COMMON_SESSION_SHARD_CALLS_H_
#define PACELINE_COMMON_SESSION_SHARD_CALLS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/rpc/ps_client.h"
#include "common/session/variable_holders.h"
#include "paceline/v1/job.pb.h"
#include "paceline/v1/ps.pb.h"

namespace paceline {

// Each method calls all shards at once and returns; `done` gets the first
// error, or the answers by shard, on a thread of gRPC's, and must not block.
// Thread-safe.
class ShardCalls : public VariableHolders {
 public:
  template <typename Response>
  using Done = std::function<void(absl::StatusOr<std::vector<Response>>)>;

  // `addresses` by shard.
  ShardCalls(v1::Job job, const std::vector<std::string>& addresses,
             const std::shared_ptr<const Caller>& caller);
  // Cancels open calls and waits until they have reported that.
  ~ShardCalls() override;

  void Initialize(const std::string& restore_path, int worker_count,
                  absl::Duration timeout, Done<v1::InitializeResponse> done);
  void Fence(const v1::WorkerId& worker, absl::Duration timeout,
             Done<v1::FenceResponse> done);
  void Snapshot(const std::string& path, SnapshotDone done) override;
  void WriteCheckpoint(const std::string& path, WriteDone done) override;

 private:
  // Starts `start(shard, request, response, call_done)` on each shard.
  template <typename Request, typename Response, typename Start>
  void Call(std::vector<Request> requests, Start start, Done<Response> done);

  const v1::Job job_;
  std::vector<std::unique_ptr<PsClient>> shards_;
  Mutex mutex_;
  CondVar closed_;
  int open_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_SHARD_CALLS_H_
