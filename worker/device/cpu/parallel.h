// Parallel loops on the threads of a device.
#ifndef PACELINE_WORKER_DEVICE_CPU_PARALLEL_H_
#define PACELINE_WORKER_DEVICE_CPU_PARALLEL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace paceline::cpu {

// Prepares the calling thread for computing: gives it OpenMP threads, including
// itself, all of which treat denormal numbers as zeros. Call it before the
// thread's first parallel region, whose new threads inherit that mode.
void PrepareThread(int thread_count);

// The number of threads that the calling thread has.
int ThreadCount();

// While it lives, the calling thread has no other threads. Primitives of oneDNN
// that are created meanwhile run on the thread that calls them, which may be
// one of ParallelFor's.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const int thread_count_;
};

// With fewer elements, waking another thread costs more than it saves.
inline constexpr int64_t kMinParallelElements = 1 << 14;

// Calls body(begin, end) for contiguous parts of [0, count), one per thread
// that the device gave to the calling thread. `elements_each` is the work per
// index; too little work stays on the calling thread. Blocks until all parts
// are done.
void ParallelFor(int64_t count, int64_t elements_each,
                 absl::FunctionRef<void(int64_t begin, int64_t end)> body);

// Calls body(index) for each index of [0, count). Each thread takes the next
// index of its share when it is done with one, then those that are left of the
// others' shares. So the others go on while a thread has no core. Blocks until
// all are done.
void TakeInTurn(int64_t count, absl::FunctionRef<void(int64_t index)> body);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_PARALLEL_H_
