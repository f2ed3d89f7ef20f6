// Whether a class is among the k likeliest.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_METRICS_TOP_K_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_METRICS_TOP_K_H_

#include <algorithm>
#include <cstdint>

namespace paceline::reference {

// Fewer than `k` elements of the row are larger than the one at `target`.
template <typename T>
bool IsInTopK(const T* row, int64_t size, int64_t target, int64_t k) {
  return std::count_if(row, row + size, [&](T y) { return y > row[target]; }) <
         k;
}

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_METRICS_TOP_K_H_
