// The step count that each shard should have, derived from the leader's count.
// A checkpoint fails if a shard's count is outside these bounds.
//
// Where all workers step together, each step is one update on every shard, and
// the loss of a worker ends the job. So all counts equal the leader's.
//
// Under asynchronous parameter servers a shard counts the pushes that it
// applied, and the leader counts the steps of leases. Each step is one push to
// every shard, so the counts are equal as long as no worker is lost. A worker
// is lost with at most one step under way, whose push some shards have applied
// and others never will. The leader counts that step if any shard applied it
// (LeaseTable::ReturnRest). A shard that did not apply it lags behind by one
// step forever; the answers to Fence, which have the number of the last push
// applied, say which shards do.
//
// A shard of several chunks counts per chunk and reports the largest count; for
// a fenced worker it reports the push of the furthest chunk. If two workers
// were lost, and different chunks applied their last pushes, no chunk has both:
// such a shard may lag behind by up to one more step for each worker that was
// lost.
#ifndef PACELINE_COMMON_SESSION_MACHINE_SHARD_STEPS_H_
#define PACELINE_COMMON_SESSION_MACHINE_SHARD_STEPS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace paceline {

// A task whose step count the leader compares with its own: a shard, or the
// workers as one if they hold the variables.
struct StepCounter {
  // The count at the start of this run.
  int64_t first_step = 0;
  // Chunks of the shard that steps update; 1 for workers. 0: all variables of
  // the shard are frozen, so its count stays.
  int updated_chunks = 1;
};

// The smallest and the largest correct count.
struct StepBounds {
  int64_t least = 0;
  int64_t most = 0;

  bool operator==(const StepBounds&) const = default;
};

// A value.
class ShardSteps {
 public:
  // `counters`: by shard; empty if no counts are known.
  explicit ShardSteps(std::vector<StepCounter> counters);

  // A worker was fenced. `pushes`: how many of its pushes each shard had
  // applied.
  void Fenced(absl::Span<const int64_t> pushes);

  // The bounds by shard, once the leader has counted `steps` since the start.
  std::vector<StepBounds> After(int64_t steps) const;

 private:
  std::vector<StepCounter> counters_;
  // Steps by which each shard lags behind the leader.
  std::vector<int64_t> missing_;
  // Lost workers that had pushed before.
  int64_t lost_count_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_SHARD_STEPS_H_
