// Parameter servers: gradients are pushed, variables come back with the answer.
//
// One push a chunk and step carries the gradients of all its blocks, and its
// answer their variables: one round trip, to all servers at once, and of larger
// shards as a stream of chunks with two under way (under bounded staleness all,
// since a held one must not keep back the next: a server then holds what
// waits). Gradients leave from where the device put them, and variables arrive
// where it reads them. A push that breaks off is repeated under the same
// sequence number, which a chunk applies at most once; one that was not
// repeated and is answered as seen before has met another that bore its number,
// which is an error. Frozen chunks are pulled once, and no more.
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
#include "common/rpc/call_group.h"
#include "common/rpc/ps_client.h"
#include "common/sharding/shard_plan.h"
#include "paceline/v1/coordinator.pb.h"
#include "paceline/v1/ps.pb.h"
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
  // Told what the strategy waits for, and "" when it no longer does.
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
  absl::Status GradientsReady(int bucket) override;
  absl::StatusOr<int64_t> EndStep(const v1::Progress& progress,
                                  bool ends_lease) override;

 private:
  // Chunks [begin, end).
  struct ChunkRange {
    size_t begin = 0;
    size_t end = 0;
  };
  struct Server {
    int shard = 0;
    std::unique_ptr<PsClient> client;
    ChunkRange updated;
    ChunkRange frozen;
    // Those that are to be called yet.
    ChunkRange waiting;
  };
  // One of the ranges of each server.
  using Chunks = ChunkRange Server::*;
  // What goes to and comes from one chunk; reused from step to step.
  struct ChunkCalls {
    Server* server = nullptr;
    v1::PullRequest pull_request;
    v1::PullResponse pull_response;
    v1::PushRequest push_request;
    v1::PushResponse push_response;
    v1::ApplyRequest apply_request;
    v1::ApplyResponse apply_response;
    // By block.
    std::vector<DenseValues> gradients;
    std::vector<DensePlace> variables;
    // Of the call under way, or the last: its attempts, when the first of them
    // began, and the latest.
    int attempts = 0;
    absl::Time first_began;
    absl::Time began;
    absl::Time unavailable_since;
  };

  bool waits_for_others() const {
    return options_.consistency != v1::CONSISTENCY_ASYNC;
  }
  bool clips_own_gradients() const {
    return clipper_.is_active() && options_.consistency != v1::CONSISTENCY_SYNC;
  }
  // The chunks that steps update, which come first.
  absl::Span<ChunkCalls> updated_chunks() {
    return absl::MakeSpan(chunks_).first(updated_chunk_count_);
  }
  absl::Status Pull(Chunks chunks);
  // Makes the differences of statistics what a server takes of workers that do
  // not step together (moving_statistics.h). The variables are still those that
  // the step was computed with.
  template <typename T>
  void MakeStatisticsParts();
  absl::Status Push(const v1::Progress& progress, bool ends_lease);
  // Internal if a server took the first attempt of a push for a repeat.
  absl::Status CheckApplied();
  // Has the sum of the step applied, clipped by the norms the shards gave.
  absl::Status Apply();

  // How many calls may be under way to one server.
  int calls_per_server() const;
  void AddChunks(Chunks chunks);
  // `index` is that in the shard.
  void AddChunk(const ShardPlan::Chunk& chunk, uint32_t index, Server& server);

  // Calls `start(chunk, timeout, done)` for these chunks, in their order at
  // each server, and again where it was unavailable, until it was so for too
  // long: then the strategy is of no further use. `what` is for people.
  template <typename Start>
  absl::Status CallAll(const std::string& what, Chunks chunks, Start start);
  // Internal unless the servers sent all variables of these.
  absl::Status CheckVariables(Chunks chunks) const;

  bool MayCallAgain(ChunkCalls& chunk) const;

  const ParameterServerOptions options_;
  const ShardPlan& plan_;
  ModelState& state_;
  Stream& stream_;
  // Those that hold variables. Never changed, as chunks point to them.
  std::vector<Server> servers_;
  // Those that steps update by server, then the others.
  std::vector<ChunkCalls> chunks_;
  size_t updated_chunk_count_ = 0;
  bool has_frozen_ = false;
  // Of the chunks.
  std::unique_ptr<CallGroup> calls_;
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
