// Metrics of each example; common/model/metrics has the formulas. For each
// example.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_METRIC_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_METRIC_H_

#include <cmath>
#include <cstdint>

#include "worker/device/cuda/kernels/values.h"
#include "worker/device/host_device.h"

namespace paceline::cuda {

// The first of the largest elements.
template <typename Row>
PACELINE_HOST_DEVICE int64_t ArgMax(const Row& row, int64_t size) {
  int64_t best = 0;
  for (int64_t i = 1; i < size; ++i) {
    if (row[i] > row[best]) best = i;
  }
  return best;
}

struct BinaryAccuracyValues {
  float threshold = 0.5f;
  // Elements of an example.
  int64_t size = 0;
  ConstValues outputs{};
  const float* labels = nullptr;
  double* values = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t example) const {
    int64_t right = 0;
    for (int64_t i = example * size; i < (example + 1) * size; ++i) {
      const float yes_or_no = outputs[i] > threshold ? 1.0f : 0.0f;
      right += labels[i] == yes_or_no ? 1 : 0;
    }
    values[example] = static_cast<double>(right) / static_cast<double>(size);
  }
};

// Whether all outputs are finite, and fewer than k are larger than that of the
// label: among the k likeliest.
struct TopKAccuracyValues {
  int64_t k = 1;
  int64_t classes = 0;
  ConstValues outputs{};
  // Exactly one of the two is set.
  const int32_t* sparse_labels = nullptr;
  const float* labels = nullptr;
  double* values = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t example) const {
    const ConstValues row = outputs.From(example * classes);
    const int64_t label = sparse_labels != nullptr
                              ? sparse_labels[example]
                              : ArgMax(labels + example * classes, classes);
    int64_t larger = 0;
    bool are_finite = true;
    for (int64_t i = 0; i < classes; ++i) {
      larger += row[i] > row[label] ? 1 : 0;
      are_finite = are_finite && std::isfinite(row[i]);
    }
    values[example] = are_finite && larger < k ? 1 : 0;
  }
};

// The share of an example's rows whose likeliest class is that of the label.
struct CategoricalAccuracyValues {
  int64_t rows = 1;
  int64_t classes = 0;
  ConstValues outputs{};
  // Exactly one of the two is set; sparse ones have one row an example.
  const int32_t* sparse_labels = nullptr;
  const float* labels = nullptr;
  double* values = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t example) const {
    int64_t right = 0;
    for (int64_t row = example * rows; row < (example + 1) * rows; ++row) {
      const int64_t label = sparse_labels != nullptr
                                ? sparse_labels[row]
                                : ArgMax(labels + row * classes, classes);
      right += ArgMax(outputs.From(row * classes), classes) == label ? 1 : 0;
    }
    values[example] = static_cast<double>(right) / static_cast<double>(rows);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_METRIC_H_
