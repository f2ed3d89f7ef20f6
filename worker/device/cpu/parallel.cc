#include "worker/device/cpu/parallel.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "common/base/simd.h"

namespace paceline::cpu {

namespace {

// Maximum number of queues in TakeInTurn. If there are more threads, several
// threads share a queue.
constexpr int kMaxQueues = 64;

}  // namespace

void PrepareThread(int thread_count) {
  omp_set_num_threads(thread_count);
  FlushDenormals();
}

int ThreadCount() { return omp_get_max_threads(); }

OneThread::OneThread() : thread_count_(ThreadCount()) {
  omp_set_num_threads(1);
}
OneThread::~OneThread() { omp_set_num_threads(thread_count_); }

// OpenMP, so that oneDNN shares the pool of threads. Uses either all threads or
// only the calling one, since libgomp ends threads that a parallel region
// leaves out.
void ParallelFor(int64_t count, int64_t elements_each,
                 absl::FunctionRef<void(int64_t begin, int64_t end)> body) {
  const int64_t thread_count = ThreadCount();
  if (thread_count == 1 || count * elements_each < kMinParallelElements) {
    body(0, count);
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

// Work stealing. Each queue is a contiguous part of the indices; taken[queue]
// counts the indices that were taken from it, and may exceed the queue's size.
// A thread empties its own queue first, then helps with the others.
void TakeInTurn(int64_t count, absl::FunctionRef<void(int64_t index)> body) {
  std::array<std::atomic<int64_t>, kMaxQueues> taken = {};
#pragma omp parallel
  {
    const int64_t queue_count = std::min(omp_get_num_threads(), kMaxQueues);
    const int64_t own = omp_get_thread_num() % queue_count;
    for (int64_t i = 0; i < queue_count; ++i) {
      const int64_t queue = (own + i) % queue_count;
      const int64_t begin = count * queue / queue_count;
      const int64_t end = count * (queue + 1) / queue_count;
      for (int64_t index = begin + taken[queue]++; index < end;
           index = begin + taken[queue]++) {
        body(index);
      }
    }
  }
}

}  // namespace paceline::cpu
