// Softmax and log-softmax along an axis. A long row is divided into parts,
// where a part has the row's elements part, part + parts, … A first kernel
// computes the sum of each part; in the second, each index adds up the sums of
// its row's parts and writes the outputs of its own part. A short row is one
// part, and needs no first kernel. All kernels are for each of rows · parts.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_SOFTMAX_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_SOFTMAX_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/loops.h"
#include "worker/device/cuda/kernels/values.h"
#include "worker/device/row_geometry.h"

namespace paceline::cuda {

struct RowParts {
  RowGeometry rows;
  int64_t parts = 1;

  // Calls use(element, load(element)) for the elements of index i.
  template <typename Load, typename Use>
  PACELINE_HOST_DEVICE void ForEach(int64_t i, const Load& load,
                                    const Use& use) const {
    const int64_t begin = rows.Offset(i / parts);
    ForEachLoaded(begin + i % parts * rows.stride,
                  begin + rows.size * rows.stride, parts * rows.stride, load,
                  use);
  }
  // The index of the first part of i's row.
  PACELINE_HOST_DEVICE int64_t FirstPart(int64_t i) const {
    return i - i % parts;
  }
};

// A part has at least 16 elements, unless the row is shorter. There are at most
// 32 parts, since each index adds up all of them.
inline RowParts PartsOf(const RowGeometry& rows) {
  return {rows, std::clamp<int64_t>(rows.size / 16, 1, 32)};
}

// The largest of some values, and Σ exp(value − largest). A value of −∞ adds
// nothing to the sum: where all are −∞, the difference would be NaN.
struct ExpSum {
  float largest = -INFINITY;
  float sum = 0;
};

// The ExpSum of each part.
struct ExpSums {
  RowParts parts;
  ConstValues inputs{};
  ExpSum* sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const { sums[i] = Of(i); }

  PACELINE_HOST_DEVICE ExpSum Of(int64_t i) const {
    ExpSum of_part;
    VisitArray(inputs, [&](const auto& x) {
      const auto load = [&](int64_t element) { return x[element]; };
      parts.ForEach(i, load, [&](int64_t, float value) {
        of_part.largest = value > of_part.largest ? value : of_part.largest;
      });
      parts.ForEach(i, load, [&](int64_t, float value) {
        if (value == -INFINITY) return;
        of_part.sum += std::exp(value - of_part.largest);
      });
    });
    return of_part;
  }
  // Of the whole row.
  PACELINE_HOST_DEVICE ExpSum OfRow(int64_t i) const {
    if (parts.parts == 1) return Of(i);
    const ExpSum* const of_parts = sums + parts.FirstPart(i);
    ExpSum total;
    for (int64_t part = 0; part < parts.parts; ++part) {
      const float largest = of_parts[part].largest;
      total.largest = largest > total.largest ? largest : total.largest;
    }
    for (int64_t part = 0; part < parts.parts; ++part) {
      total.sum +=
          of_parts[part].sum * std::exp(of_parts[part].largest - total.largest);
    }
    return total;
  }
};

struct SoftmaxForward {
  ExpSums sums;
  bool is_log = false;
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const ExpSum total = sums.OfRow(i);
    // In a row of −∞ alone, the distances are NaN, and so are the outputs.
    const float log_sum = std::log(total.sum);
    VisitArray(sums.inputs, [&](const auto& x) {
      sums.parts.ForEach(
          i, [&](int64_t element) { return x[element]; },
          [&](int64_t element, float value) {
            const float distance = value - total.largest;
            outputs.Set(element, is_log ? distance - log_sum
                                        : std::exp(distance) / total.sum);
          });
    });
  }
};

// Σ dy of each part for log-softmax, else Σ y · dy.
struct SoftmaxGradientSums {
  RowParts parts;
  bool is_log = false;
  ConstValues outputs{};
  ConstValues output_gradients{};
  float* sums = nullptr;

  struct Loaded {
    float output;
    float gradient;
  };
  // Calls use(element, Loaded) for the elements of index i.
  template <typename Use>
  PACELINE_HOST_DEVICE void ForEach(int64_t i, const Use& use) const {
    VisitArrays(outputs, output_gradients, [&](const auto& y, const auto& dy) {
      parts.ForEach(
          i,
          [&](int64_t element) {
            return Loaded{y[element], dy[element]};
          },
          use);
    });
  }

  PACELINE_HOST_DEVICE void operator()(int64_t i) const { sums[i] = Of(i); }

  PACELINE_HOST_DEVICE float Of(int64_t i) const {
    float sum = 0;
    ForEach(i, [&](int64_t, const Loaded& at) {
      sum += is_log ? at.gradient : at.output * at.gradient;
    });
    return sum;
  }
  // Of the whole row.
  PACELINE_HOST_DEVICE float OfRow(int64_t i) const {
    if (parts.parts == 1) return Of(i);
    float total = 0;
    for (int64_t part = 0; part < parts.parts; ++part) {
      total += sums[parts.FirstPart(i) + part];
    }
    return total;
  }
};

// The inputs' gradients may overwrite the outputs or the outputs' gradients.
struct SoftmaxBackward {
  SoftmaxGradientSums sums;
  Values input_gradients{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const float sum = sums.OfRow(i);
    sums.ForEach(i, [&](int64_t element, const auto& at) {
      input_gradients.Set(element, sums.is_log
                                       ? at.gradient - std::exp(at.output) * sum
                                       : at.output * (at.gradient - sum));
    });
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_SOFTMAX_H_
