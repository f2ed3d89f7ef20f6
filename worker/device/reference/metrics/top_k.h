// Whether a class is among the k likeliest.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_METRICS_TOP_K_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_METRICS_TOP_K_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace paceline::reference {

// All elements of the row are finite, and fewer than `k` are larger than the
// one at `target`.
template <typename T>
bool IsInTopK(const T* row, int64_t size, int64_t target, int64_t k) {
  const auto is_finite = [](T y) { return std::isfinite(y); };
  const auto is_larger = [&](T y) { return y > row[target]; };
  return std::all_of(row, row + size, is_finite) &&
         std::count_if(row, row + size, is_larger) < k;
}

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_METRICS_TOP_K_H_
