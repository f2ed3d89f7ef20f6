// Sums and maxima in a fixed order: one index adds up each part, then the parts
// are added up. The number of parts depends only on the size, so a repeat gives
// the same bits.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_SUMS_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_SUMS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/step_values.h"
#include "worker/device/cuda/kernels/values.h"
#include "worker/device/row_geometry.h"

namespace paceline::cuda {

// Number of parts for a sum over `rows`: about √rows, so that both passes take
// the same time.
inline int64_t PartCount(int64_t rows) {
  return std::max<int64_t>(
      1, static_cast<int64_t>(std::sqrt(static_cast<double>(rows))));
}

// sums[part, column] = Σ values[row, column] over the rows of the part: part,
// part + parts, … For each of parts · columns. In is ConstValues or const
// double*.
template <typename In, typename Out>
struct ColumnSums {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t parts = 1;
  In values = {};
  Out* sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    double sum = 0;
    for (int64_t row = i / columns; row < rows; row += parts) {
      sum += static_cast<double>(values[row * columns + i % columns]);
    }
    sums[i] = static_cast<Out>(sum);
  }
};

// sums[part, row] = Σ of a row's elements part, part + parts, … For each of
// parts · row_count.
struct RowPartSums {
  RowGeometry rows;
  int64_t row_count = 0;
  int64_t parts = 1;
  ConstValues values{};
  double* sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    double sum = 0;
    for (int64_t e = i / row_count; e < rows.size; e += parts) {
      sum += static_cast<double>(values[rows.Index(i % row_count, e)]);
    }
    sums[i] = sum;
  }
};

// The same with the largest of the elements; NaN if there is one.
struct RowPartMaxima {
  RowGeometry rows;
  int64_t row_count = 0;
  int64_t parts = 1;
  ConstValues values{};
  Values maxima{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    float largest = -INFINITY;
    for (int64_t e = i / row_count; e < rows.size; e += parts) {
      const float value = values[rows.Index(i % row_count, e)];
      // NaN stays, since no comparison with it is true.
      if (value > largest || value != value) largest = value;
    }
    maxima.Set(i, largest);
  }
};

// Where to record the first training step whose loss is NaN or infinite; null:
// nowhere.
struct NonfiniteNote {
  const StepValues* step = nullptr;
  int64_t* first_step = nullptr;

  // Call it with the sum of the loss after each step that added to it. The sum
  // stays NaN or infinite once it is.
  PACELINE_HOST_DEVICE void Note(double sum) const {
    // sum − sum is 0 if and only if the sum is finite.
    if (first_step == nullptr || *first_step != 0 || sum - sum == 0) return;
    *first_step = step->number;
  }
};

// states[i] += values[i]. For each of them.
struct AddToStates {
  ConstValues values{};
  double* states = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    states[i] += static_cast<double>(values[i]);
  }
};

// *total += factor · Σ parts, *count += examples. For one index.
struct AddToTotal {
  int64_t parts = 0;
  const double* sums = nullptr;
  double factor = 1;
  double examples = 0;
  double* total = nullptr;
  double* count = nullptr;
  NonfiniteNote note = {};

  PACELINE_HOST_DEVICE void operator()(int64_t /*i*/) const {
    double sum = 0;
    for (int64_t part = 0; part < parts; ++part) sum += sums[part];
    *total += factor * sum;
    *count += examples;
    note.Note(*total);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_SUMS_H_
