// Loops over the threads of a device.
#ifndef PACELINE_WORKER_DEVICE_CPU_PARALLEL_H_
#define PACELINE_WORKER_DEVICE_CPU_PARALLEL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace paceline::cpu {

// Makes the calling thread ready to compute: gives it OpenMP threads, itself
// among them, and has all of them take denormal numbers for zeros. To be called
// before its first parallel region, whose threads inherit the latter.
void PrepareThread(int thread_count);

// Elements below which waking another thread costs more than it brings.
inline constexpr int64_t kMinParallelElements = 1 << 15;

// Calls body(begin, end) for contiguous parts of [0, count), one for each
// thread that the device gave the calling thread. `elements_each` is the work
// of one index; little work is not divided.
void ParallelFor(int64_t count, int64_t elements_each,
                 absl::FunctionRef<void(int64_t begin, int64_t end)> body);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_PARALLEL_H_
