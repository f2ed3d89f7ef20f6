// Parameter servers: gradients are pushed, variables come back with the answer.
//
// A step is one push a chunk: it carries the gradients of all the chunk's
// blocks, and its answer their variables. Larger shards are a stream of chunks
// (chunk_stream.h). Gradients leave from where the device put them, and
// variables arrive where it reads them. A push that breaks off is repeated
// under the same sequence number, which a chunk applies at most once; one that
// was not repeated and is answered as seen before has met another that bore its
// number, which is an error. Frozen chunks are pulled once, and no more.
//
// A chunk leaves while backward goes on, as soon as its last bucket is final:
// nobody reads the variables any more that the answer overwrites. Such a push
// carries the worker's position in its lease, but no sums of loss and metrics.
// Those go with the chunks that have not left when the step ends; the last
// chunk always waits for them. So of a worker that is lost in the middle of a
// step the servers know the examples of that step, and the sums of the step
// before. Where norms clip, all chunks leave at the end, since a norm needs all
// gradients.
//
// Clipping: asynchronously, each worker clips its own gradients before it
// pushes them. Synchronously the shards clip the sum; if by norms, the answers
// carry what each chunk has of them, and a second round trip brings the totals.
#ifndef PACELINE_WORKER_STRATEGY_PARAMETER_SERVER_H_
#define PACELINE_WORKER_STRATEGY_PARAMETER_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/identity/caller.h"
#include "common/sharding/shard_plan.h"
#include "paceline/v1/coordinator.pb.h"
#include "paceline/v1/ps.pb.h"
#include "worker/strategy/chunk_stream.h"
#include "worker/strategy/gradient_clipper.h"
#include "worker/strategy/strategy.h"
#include "worker/strategy/strategy_parts.h"

namespace paceline {

struct ParameterServerOptions {
  v1::WorkerId worker;
  // Says so to the servers.
  std::shared_ptr<const Caller> caller;
  // By index.
  std::vector<v1::Member> servers;
  // For the answer of a server that waits for nobody, repeats included.
  absl::Duration timeout;
  // Whether pushes wait for those of other workers.
  v1::Consistency consistency = v1::CONSISTENCY_ASYNC;
  Clipping clipping;
  // Whether it is tried with servers of the same machine.
  bool use_shared_memory = true;
  // Called with what the strategy waits for, and with "" when it no longer
  // waits.
  std::function<void(const std::string&)> on_waiting;
};

class ParameterServerStrategy : public Strategy {
 public:
  // `plan`, `state` and `stream` outlive the strategy.
  ParameterServerStrategy(ParameterServerOptions options, const ShardPlan& plan,
                          ModelState& state, Stream& stream);
  ~ParameterServerStrategy() override;

  absl::Status PullVariables() override;
  absl::Status BeginLease() override;
  void BeginStep(const v1::Progress& position, bool ends_lease) override;
  absl::Status GradientsReady(int bucket) override;
  void BucketFinal(int bucket) override;
  absl::StatusOr<int64_t> EndStep(const v1::Progress& progress) override;

 private:
  using Chunks = ChunkStream::Chunks;

  bool waits_for_others() const {
    return options_.consistency != v1::CONSISTENCY_ASYNC;
  }
  bool pushes_early() const { return !clipper_.needs_norms(); }
  bool clips_own_gradients() const {
    return clipper_.is_active() && options_.consistency != v1::CONSISTENCY_SYNC;
  }
  // The chunks that steps update, which come first.
  absl::Span<ChunkCalls> updated_chunks() {
    return absl::MakeSpan(chunks_).first(updated_chunk_count_);
  }
  absl::Status Pull(Chunks chunks);
  // Makes a bucket's gradients what the servers expect: clips them, and turns
  // deltas of statistics into parts (moving_statistics.h). The variables
  // are still those that the step was computed with.
  void PrepareGradients(int bucket);
  template <typename T>
  void MakeStatisticsParts(int bucket);
  // Internal if a server took the first attempt of a push for a repeat.
  absl::Status CheckApplied();
  // Has the sum of the step applied, clipped by the norms the shards gave.
  absl::Status Apply();

  void AddChunks(Chunks chunks);
  // `index` is that in the shard.
  void AddChunk(const ShardPlan::Chunk& chunk, uint32_t index,
                ChunkServer& server);
  // Internal unless the servers sent all variables of these.
  absl::Status CheckVariables(Chunks chunks) const;

  const ParameterServerOptions options_;
  const ShardPlan& plan_;
  ModelState& state_;
  Stream& stream_;
  // Never changed, as chunks point to them.
  std::vector<ChunkServer> servers_;
  // Those that steps update by server, then the others.
  std::vector<ChunkCalls> chunks_;
  size_t updated_chunk_count_ = 0;
  // By bucket that steps update: the chunks with blocks of it.
  std::vector<std::vector<size_t>> chunks_of_bucket_;
  // By updated chunk: the buckets of which it has blocks; and how many of them
  // are not final yet in the step at hand.
  std::vector<int> bucket_counts_;
  std::vector<int> open_buckets_;
  bool has_frozen_ = false;
  std::unique_ptr<ChunkStream> pushes_;
  GradientClipper clipper_;
  // What the task waits for, by call.
  std::string waiting_for_push_;
  std::string waiting_for_pull_;
  std::string waiting_for_apply_;
  uint64_t sequence_ = 0;
  // Of bounded staleness.
  uint64_t clock_ = 0;
};

// Internal unless the leader named as many servers as the plan has shards.
absl::StatusOr<std::unique_ptr<Strategy>> MakeParameterServer(
    const StrategyParts& parts);

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_PARAMETER_SERVER_H_
