// Lookup of table rows by id, and its gradient.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_EMBEDDING_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_EMBEDDING_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// For each element of the outputs.
struct GatherRows {
  // Elements per row.
  int64_t size = 0;
  const int32_t* ids = nullptr;
  ConstValues table{};
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t id = ids[i / size];
    outputs.Set(i, table[id * size + i % size]);
  }
};

// Links the occurrences of the same id in a batch.
struct IdOccurrence {
  // The next occurrence; -1: none.
  int32_t next;
  // 1 if no earlier occurrence exists, else 0.
  int32_t is_first;
};

// For each occurrence.
struct LinkIds {
  int64_t count = 0;
  const int32_t* ids = nullptr;
  IdOccurrence* occurrences = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    int64_t before = 0;
    while (ids[before] != ids[i]) ++before;
    int64_t next = i + 1;
    while (next < count && ids[next] != ids[i]) ++next;
    occurrences[i] = {next < count ? static_cast<int32_t>(next) : -1,
                      before == i ? 1 : 0};
  }
};

// Adds up the gradients of all occurrences of an id, in their order. Does not
// change rows of the table whose ids do not occur. For each element of the
// gradients.
struct ScatterRows {
  int64_t size = 0;
  const int32_t* ids = nullptr;
  const IdOccurrence* occurrences = nullptr;
  ConstValues gradients{};
  float* table_gradients = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t first = i / size;
    if (occurrences[first].is_first == 0) return;
    const int64_t column = i % size;
    float sum = 0;
    for (int64_t at = first; at >= 0; at = occurrences[at].next) {
      sum += gradients[at * size + column];
    }
    table_gradients[ids[first] * size + column] = sum;
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_EMBEDDING_H_
