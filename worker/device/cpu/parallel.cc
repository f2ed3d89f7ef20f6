#include "worker/device/cpu/parallel.h"

#include <omp.h>

#include "common/base/simd.h"

namespace paceline::cpu {

void PrepareThread(int thread_count) {
  omp_set_num_threads(thread_count);
  FlushDenormals();
}

// OpenMP, so that oneDNN shares the pool of threads. Uses either all threads or
// only the calling one, since libgomp ends threads that a parallel region
// leaves out.
void ParallelFor(int64_t count, int64_t elements_each,
                 absl::FunctionRef<void(int64_t begin, int64_t end)> body) {
  const int64_t thread_count = omp_get_max_threads();
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

}  // namespace paceline::cpu
