// How a data set is read, with the defaults of what its message leaves out.
#ifndef PACELINE_COMMON_JOB_DATASET_READING_H_
#define PACELINE_COMMON_JOB_DATASET_READING_H_

#include <cstdint>

#include "paceline/v1/job.pb.h"

namespace paceline {

inline constexpr uint32_t kDefaultRepeat = 1;
inline constexpr uint32_t kDefaultPrefetch = 3;

// Passes over the examples in an epoch, at least 1.
inline int64_t RepeatOf(const v1::Dataset& dataset) {
  return dataset.repeat() == 0 ? kDefaultRepeat : dataset.repeat();
}

// Batches that are made ahead of the model, at least 1.
inline int64_t PrefetchOf(const v1::Dataset& dataset) {
  return dataset.prefetch() == 0 ? kDefaultPrefetch : dataset.prefetch();
}

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_DATASET_READING_H_
