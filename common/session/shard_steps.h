// What each shard's count of steps must be, by the leader's account.
//
// Where all workers step together, each step is one on every shard, and the
// loss of a worker ends the job: all counts are equal.
//
// Under asynchronous parameter servers a shard counts the pushes that it
// applied, and the leader the steps of leases. Each step is one push to every
// shard, so counts are equal as long as no worker is lost. A worker is lost
// with at most one step under way, whose push some shards have applied and
// others never will. The leader counts that step if any shard applied it (the
// one that is furthest on, as LeaseTable::ReturnRest has it). A shard that had
// applied less stays behind by as much, for good; the answers to the fence,
// which have the number of the last push applied, tell by how much.
//
// A shard of several chunks has a count for each, and tells the largest; of a
// lost worker it tells the furthest chunk's push. Where two workers were lost
// and different chunks applied their last pushes, no chunk has both: such a
// shard may be behind by up to one step more for each worker that was lost.
#ifndef PACELINE_COMMON_SESSION_SHARD_STEPS_H_
#define PACELINE_COMMON_SESSION_SHARD_STEPS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace paceline {

// Who counts steps beside the leader: a shard, or the workers that hold the
// variables.
struct StepCounter {
  // Its count at the start.
  int64_t first_step = 0;
  // Chunks of the shard that steps update; 0: all its variables are frozen, and
  // its count stays. 1 for workers.
  int updated_chunks = 1;
};

// What a count may be.
struct StepBounds {
  int64_t least = 0;
  int64_t most = 0;

  bool operator==(const StepBounds&) const = default;
};

// A value.
class ShardSteps {
 public:
  // By shard; empty if nobody's count is known.
  explicit ShardSteps(std::vector<StepCounter> counters);

  // A worker was shut out, of which each shard had applied so many pushes.
  void Fenced(absl::Span<const int64_t> pushes);

  // By shard, once the leader has counted `steps` since the start.
  std::vector<StepBounds> After(int64_t steps) const;

 private:
  std::vector<StepCounter> counters_;
  // Pushes that a shard lacks, by shard.
  std::vector<int64_t> missing_;
  // Workers that were lost after they had pushed.
  int64_t lost_count_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_SHARD_STEPS_H_
