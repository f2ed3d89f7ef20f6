// Loops over the threads of a device.
#ifndef PACELINE_WORKER_DEVICE_CPU_PARALLEL_H_
#define PACELINE_WORKER_DEVICE_CPU_PARALLEL_H_

#include <omp.h>

#include <cstdint>

#include "common/base/simd.h"

namespace paceline::cpu {

// Makes the calling thread ready to compute: gives it OpenMP threads, itself
// among them, and has all of them take denormal numbers for zeros. To be called
// before its first parallel region, whose threads inherit the latter.
inline void PrepareThread(int thread_count) {
  omp_set_num_threads(thread_count);
  FlushDenormals();
}

// Elements below which waking another thread costs more than it brings.
inline constexpr int64_t kMinParallelElements = 1 << 15;

// Calls body(begin, end) for contiguous parts of [0, count), one for each
// thread that the device gave the calling thread. `elements_each` is the work
// of one index. OpenMP as in oneDNN, so that both share one pool of threads;
// either all of them or none, since libgomp ends those that a region leaves
// out.
template <typename Body>
void ParallelFor(int64_t count, int64_t elements_each, const Body& body) {
  const int64_t thread_count = omp_get_max_threads();
  if (thread_count == 1 || count * elements_each < kMinParallelElements) {
    body(int64_t{0}, count);
    return;
  }
#pragma omp parallel
  {
    const int64_t part = omp_get_thread_num();
    const int64_t part_count = omp_get_num_threads();
    const int64_t begin = count * part / part_count;
    const int64_t end = count * (part + 1) / part_count;
    if (begin < end) body(begin, end);
  }
}

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_PARALLEL_H_
