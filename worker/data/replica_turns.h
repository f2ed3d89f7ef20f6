// Which replica's stream of examples gives the example at each position of a
// round, where replicas take each step together.
//
// A position belongs to the replica whose slice of its step has it. It takes
// the next example of that replica's stream. Streams may have more or fewer
// examples than their replicas have positions: when a stream has ended, the
// positions of its replica take, one after the other, what other streams have
// too many of. So each example comes at one position, and no replica waits.
//
//   streams  0: a b c d e    positions  0 0 1 1 | 0 0 1 1
//            1: x y z                   a b x y | c d z e
#ifndef PACELINE_WORKER_DATA_REPLICA_TURNS_H_
#define PACELINE_WORKER_DATA_REPLICA_TURNS_H_

#include <cstdint>
#include <vector>

namespace paceline {

// Takes memory and time in proportion to the replicas, not the examples. Not
// thread-safe.
class ReplicaTurns {
 public:
  // `sizes`: examples in each replica's stream. `step_size`: of a full step.
  ReplicaTurns(std::vector<int64_t> sizes, int64_t step_size);

  // The first `examples` positions of a round follow, at most as many as there
  // are in all streams. `into_step`: how far into a step the round begins.
  // `ends_step`: whether its last step ends with it, although it may be
  // smaller; then it must begin with a step. Otherwise the last step goes on in
  // the next round.
  void Begin(int64_t examples, int64_t into_step, bool ends_step);

  // Example `index` of stream `stream`.
  struct Turn {
    int stream = 0;
    int64_t index = 0;
    // Whether a replica takes it whose own stream has ended. For ascending
    // positions the indices of each stream ascend, both of those that are spare
    // and of the others.
    bool is_spare = false;
  };
  // What comes at `position` of the round.
  Turn At(int64_t position) const;

 private:
  int replicas() const { return static_cast<int>(sizes_.size()); }
  // The replica that takes `position`.
  int ReplicaAt(int64_t position) const;
  // How many of the positions before `position` are the replica's.
  int64_t CountBefore(int replica, int64_t position) const;
  // The same for the first `positions` of steps that are all full.
  int64_t CountInFullSteps(int replica, int64_t positions) const;

  const std::vector<int64_t> sizes_;
  const int64_t step_size_;
  int64_t examples_ = 0;
  int64_t into_step_ = 0;
  // Where a smaller last step begins; `examples_` if there is none.
  int64_t full_end_ = 0;
  // What each replica's stream has too much of begins at `spare_begins_`;
  // `spare_ends_` are the sums of how many these are.
  std::vector<int64_t> spare_begins_;
  std::vector<int64_t> spare_ends_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DATA_REPLICA_TURNS_H_
