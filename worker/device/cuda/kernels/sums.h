// Sums and maxima in a fixed order. An index of the first pass adds up a part,
// and each further pass adds up parts, until few enough are left for the kernel
// that uses the sum. The numbers of parts depend only on the size, so a repeat
// gives the same bits.
//
// An index reads its terms one after the other, and memory takes longest to
// answer. So what a pass costs is how many terms an index has, and many indices
// with few terms are much faster than few with many.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_SUMS_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_SUMS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/loops.h"
#include "worker/device/cuda/kernels/step_values.h"
#include "worker/device/cuda/kernels/values.h"
#include "worker/device/row_geometry.h"

namespace paceline::cuda {

// Number of parts where the pass after the first adds up all of them: about
// √rows, so that both take the same time.
inline int64_t PartCount(int64_t rows) {
  return std::max<int64_t>(
      1, static_cast<int64_t>(std::sqrt(static_cast<double>(rows))));
}

// The most parts that the last of any number of passes adds up.
inline constexpr int64_t kMaxLastParts = 64;

// Number of parts per column in the first of any number of passes.
inline int64_t FirstPartCount(int64_t rows, int64_t columns) {
  // What large GPUs run at once, of indices with four columns.
  constexpr int64_t kIndices = 1 << 17;
  constexpr int64_t kMinTerms = 32;
  const int64_t fours = FourBlocks(columns);
  const int64_t enough = (kIndices + fours - 1) / fours;
  const int64_t most = (rows + kMinTerms - 1) / kMinTerms;
  return std::max<int64_t>(1, std::min(enough, most));
}

// Number of parts after a pass over `parts`, more than kMaxLastParts. All
// passes that are still to come have about the same number of terms.
inline int64_t NextPartCount(int64_t parts) {
  int passes = 2;
  for (int64_t most = kMaxLastParts * kMaxLastParts; most < parts;
       most *= kMaxLastParts) {
    ++passes;
  }
  const auto terms = static_cast<int64_t>(
      std::ceil(std::pow(static_cast<double>(parts), 1.0 / passes)));
  return (parts + terms - 1) / terms;
}

// sums[part, column] = Σ values[row, column] over the rows of the part: part,
// part + parts, … For each of parts · FourBlocks(columns).
template <typename Out>
struct ColumnSums {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t parts = 1;
  ConstValues values = {};
  Out* sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    VisitChannels(i, columns, {values.data},
                  [&](int64_t part, int64_t column, auto width) {
                    SumUp<width>(part, column);
                  });
  }

  template <int kWidth>
  PACELINE_HOST_DEVICE void SumUp(int64_t part, int64_t column) const {
    double totals[kWidth] = {};
    VisitArray(values, [&](const auto& array) {
      ForEachLoaded(
          part, rows, parts,
          [&](int64_t row) {
            return LoadAdjacent<kWidth>(array, row * columns + column);
          },
          [&](int64_t, const Adjacent<kWidth>& loaded) {
            PACELINE_UNROLL
            for (int c = 0; c < kWidth; ++c) {
              totals[c] += static_cast<double>(loaded[c]);
            }
          });
    });
    PACELINE_UNROLL
    for (int c = 0; c < kWidth; ++c) {
      sums[part * columns + column + c] = static_cast<Out>(totals[c]);
    }
  }
};

// The same of doubles, of which there are few rows. For each of parts ·
// columns.
template <typename Out>
struct SumsOfDoubles {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t parts = 1;
  const double* values = nullptr;
  Out* sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t column = i % columns;
    double sum = 0;
    ForEachLoaded(
        i / columns, rows, parts,
        [&](int64_t row) { return values[row * columns + column]; },
        [&](int64_t, double value) { sum += value; });
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
    const int64_t offset = rows.Offset(i % row_count);
    double sum = 0;
    VisitArray(values, [&](const auto& array) {
      ForEachLoaded(
          i / row_count, rows.size, parts,
          [&](int64_t e) { return array[offset + e * rows.stride]; },
          [&](int64_t, float value) { sum += static_cast<double>(value); });
    });
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
    ForEachLoaded(
        0, parts, 1, [&](int64_t part) { return sums[part]; },
        [&](int64_t, double value) { sum += value; });
    *total += factor * sum;
    *count += examples;
    note.Note(*total);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_SUMS_H_
