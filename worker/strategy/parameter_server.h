// The parameter_server strategy: workers push gradients, and get variables back
// with the answer (Li et al., "Scaling Distributed Machine Learning with the
// Parameter Server", 2014).
//
// A step is one push per chunk, with the gradients of all the chunk's blocks;
// the answer has their variables. The chunks of a shard are sent in their
// order, a few at a time (chunk_stream.h). Gradients are sent from the memory
// where the device has written them, and variables are received into the memory
// from which it reads them. A push whose connection breaks is repeated under
// the same sequence number, and a chunk applies each number at most once. If a
// push that was sent only once is answered as a repeat, another process pushes
// as this worker, which is an error. Frozen variables are pulled once.
//
// Early pushes: a chunk is sent while backward goes on, as soon as its last
// bucket is final, that is, when no later section reads the variables that the
// answer overwrites. Such a push has the worker's position in its lease, but no
// sums of loss and metrics. The sums go with the chunks that are sent at the
// end of the step. The last chunk always is, whichever bucket is final last. So
// if a worker is lost in the middle of a step, the servers know the examples of
// that step, and the sums of the step before. If the optimizer clips by norms,
// all chunks are sent at the end, since a norm needs all gradients.
//
// Pipeline: with `pipelines`, EndStep sends the chunks that are left but does
// not wait for the answers. The next step computes with the variables at hand,
// and begins to push when all pushes of this one are answered, so a worker has
// pushes of one step under way at most. When a chunk leaves, the variables of
// the last answer replace the old ones in host memory, since no later section
// reads those. Calls use copies of gradients and variables (staged_chunk.h). A
// gradient is computed with variables that lack the worker's own last push;
// servers see that by the variables' versions, and count it as staleness. The
// last step of a lease waits for its answers, so that no lease ends before its
// pushes are applied.
//
// Clipping: with asynchronous updates and under bounded staleness each worker
// clips its own gradients before it pushes them. With synchronous updates the
// shards clip the sum. If they clip by norms, the answers have each chunk's
// partial norms, and a second round trip sends the totals.
#ifndef PACELINE_WORKER_STRATEGY_PARAMETER_SERVER_H_
#define PACELINE_WORKER_STRATEGY_PARAMETER_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/identity/caller.h"
#include "common/sharding/shard_plan.h"
#include "paceline/v1/coordinator.pb.h"
#include "paceline/v1/ps.pb.h"
#include "worker/strategy/chunk_stream.h"
#include "worker/strategy/gradient_clipper.h"
#include "worker/strategy/staged_chunk.h"
#include "worker/strategy/strategy.h"
#include "worker/strategy/strategy_parts.h"
#include "worker/trace/replica_trace.h"

namespace paceline {

struct ParameterServerOptions {
  v1::WorkerId worker;
  // The identity of this worker in calls to the servers.
  std::shared_ptr<const Caller> caller;
  // By index.
  std::vector<v1::Member> servers;
  // Deadline of a call to a server that does not wait for other workers,
  // including repeats.
  absl::Duration timeout;
  // Whether servers answer a push only after pushes of other workers.
  v1::Consistency consistency = v1::CONSISTENCY_ASYNC;
  Clipping clipping;
  // Whether a step begins while the last one's pushes are under way. Only under
  // CONSISTENCY_ASYNC.
  bool pipelines = false;
  // Whether to use shared memory with servers on the same machine.
  bool use_shared_memory = true;
  // Called with what the strategy waits for, and with "" when the wait ends.
  std::function<void(const std::string&)> on_waiting;
  // What the replica records; null: nothing.
  ReplicaTrace* trace = nullptr;
};

class ParameterServerStrategy : public Strategy {
 public:
  // `plan`, `state` and `stream` must outlive the strategy.
  ParameterServerStrategy(ParameterServerOptions options, const ShardPlan& plan,
                          ModelState& state, Stream& stream);
  ~ParameterServerStrategy() override;

  absl::Status PullVariables() override;
  absl::Status BeginLease(std::optional<double> learning_rate) override;
  void BeginStep(const v1::Progress& position, bool ends_lease) override;
  absl::Status GradientsReady(int bucket) override;
  void BucketFinal(int bucket) override;
  absl::StatusOr<int64_t> EndStep(const v1::Progress& progress) override;
  std::optional<int64_t> late_step() const override { return late_step_; }

 private:
  using Chunks = ChunkStream::Chunks;

  bool waits_for_others() const {
    return options_.consistency != v1::CONSISTENCY_ASYNC;
  }
  bool pushes_early() const { return !clipper_.needs_norms(); }
  bool clips_own_gradients() const {
    return clipper_.is_active() && options_.consistency != v1::CONSISTENCY_SYNC;
  }
  // The chunks that steps update; they come first in chunks_.
  absl::Span<ChunkCalls> updated_chunks() {
    return absl::MakeSpan(chunks_).first(updated_chunk_count_);
  }
  absl::Status Pull(Chunks chunks);
  // Copies the variables that steps update to the device.
  absl::Status Upload();
  // Begins the pushes of the current step.
  void BeginPushes();
  // Sends the updated chunk of that index. Its gradients must be prepared, and
  // its buckets final: with `pipelines` it takes over the variables of the last
  // answer, too.
  void Send(size_t index, const v1::Progress& progress);
  // Blocks until all pushes that have begun are applied and answered.
  absl::Status EndPushes();
  // Ends the pushes of the step before, and begins those of the current one.
  absl::Status NextPushes();
  // With `pipelines`: takes over the variables of all updated chunks.
  void TakeVariables();
  // Prepares a bucket's gradients for the servers: clips them, and turns deltas
  // of statistics into parts (moving_statistics.h). The variables must still be
  // those with which the step was computed.
  void PrepareGradients(int bucket);
  template <typename T>
  void MakeStatisticsParts(int bucket);
  // Internal if a server's answer has a step that cannot be, or norms for which
  // nobody asked.
  absl::Status CheckResponses() const;
  // Internal if a server answered the first attempt of a push as a repeat.
  absl::Status CheckApplied();
  // Orders the servers to apply the step's sum, clipped by the total norms.
  absl::Status Apply();

  void AddChunks(Chunks chunks);
  // `index`: of the chunk in its shard.
  void AddChunk(const ShardPlan::Chunk& chunk, uint32_t index,
                ChunkServer& server);
  // Internal unless the servers have sent all variables of these chunks.
  absl::Status CheckVariables(Chunks chunks) const;

  const ParameterServerOptions options_;
  const ShardPlan& plan_;
  ModelState& state_;
  Stream& stream_;
  // Null: nothing is recorded.
  TraceLane* const lane_;
  // By updated chunk; empty without `pipelines`. Before servers_, since gRPC
  // may read the copies until a server's client is destroyed.
  std::vector<StagedChunk> staged_;
  // Constant, since chunks point to its elements.
  std::vector<ChunkServer> servers_;
  // First the updated chunks, by server; then the frozen ones.
  std::vector<ChunkCalls> chunks_;
  size_t updated_chunk_count_ = 0;
  // By updated bucket: the indices of the chunks that have blocks of it.
  std::vector<std::vector<size_t>> chunks_of_bucket_;
  // By updated chunk: the number of buckets with blocks in the chunk.
  std::vector<int> bucket_counts_;
  // How many of those are not final yet in the current step.
  std::vector<int> open_buckets_;
  // The current step, and whether its pushes have begun.
  v1::Progress position_;
  bool ends_lease_ = false;
  // Of the current lease.
  std::optional<double> learning_rate_;
  bool may_send_ = false;
  // Whether pushes, of the current step or the one before, have begun and not
  // ended.
  bool is_pushing_ = false;
  // The number of the step whose pushes ended last.
  uint64_t step_ = 0;
  std::optional<int64_t> late_step_;
  bool has_frozen_ = false;
  std::unique_ptr<ChunkStream> pushes_;
  GradientClipper clipper_;
  // What the worker waits for, by kind of call.
  std::string waiting_for_push_;
  std::string waiting_for_pull_;
  std::string waiting_for_apply_;
  uint64_t sequence_ = 0;
  // The worker's clock; used under bounded staleness.
  uint64_t clock_ = 0;
};

// Internal unless the leader has named as many servers as the plan has shards.
absl::StatusOr<std::unique_ptr<Strategy>> MakeParameterServer(
    const StrategyParts& parts);

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_PARAMETER_SERVER_H_
