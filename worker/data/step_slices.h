// How replicas that take a step together share its examples.
#ifndef PACELINE_WORKER_DATA_STEP_SLICES_H_
#define PACELINE_WORKER_DATA_STEP_SLICES_H_

#include <cstdint>

namespace paceline {

// The first example of replica `rank`'s slice of a step with `count` examples.
inline int64_t SliceBegin(int64_t count, int rank, int replicas) {
  return count * rank / replicas;
}

// How many the slice has; those of the replicas differ by one at most.
inline int64_t SliceSize(int64_t count, int rank, int replicas) {
  return SliceBegin(count, rank + 1, replicas) -
         SliceBegin(count, rank, replicas);
}

// The replica whose slice has example `index` in [0, count) of the step.
inline int SliceOf(int64_t index, int64_t count, int replicas) {
  return static_cast<int>(((index + 1) * replicas - 1) / count);
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DATA_STEP_SLICES_H_
