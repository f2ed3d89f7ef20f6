// Counts all calls of malloc and related functions in the process.
#ifndef PACELINE_TESTS_UNIT_DATA_ALLOCATION_COUNT_H_
#define PACELINE_TESTS_UNIT_DATA_ALLOCATION_COUNT_H_

#include <atomic>
#include <cstdint>

namespace paceline {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kCountsAllocations = false;
#else
inline constexpr bool kCountsAllocations = true;
#endif

// Calls so far, by all threads; 0 if they are not counted.
int64_t AllocationCount();

// Counts in `counter` from now on; it must exist until the process ends.
void CountAllocationsIn(std::atomic<int64_t>& counter);

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_DATA_ALLOCATION_COUNT_H_
