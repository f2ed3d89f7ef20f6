#include <algorithm>

#include "common/model/metrics/binary_accuracy.h"
#include "worker/device/cpu/metrics/metric_kernel.h"

namespace paceline::cpu {
namespace {

// The first of the largest elements.
int64_t ArgMax(const float* row, int64_t size) {
  return std::max_element(row, row + size) - row;
}

class BinaryAccuracyKernel final : public MetricKernel {
 public:
  BinaryAccuracyKernel(double threshold, int64_t size)
      : threshold_(static_cast<float>(threshold)), size_(size) {}

  double ValueOf(int64_t example, const float* outputs,
                 const std::byte* labels) const override {
    const float* const output = outputs + example * size_;
    const float* const label =
        reinterpret_cast<const float*>(labels) + example * size_;
    int64_t right = 0;
    for (int64_t i = 0; i < size_; ++i) {
      const float yes_or_no = output[i] > threshold_ ? 1 : 0;
      right += label[i] == yes_or_no ? 1 : 0;
    }
    return static_cast<double>(right) / static_cast<double>(size_);
  }

 private:
  float threshold_;
  int64_t size_;
};

class CategoricalAccuracyKernel final : public MetricKernel {
 public:
  CategoricalAccuracyKernel(int64_t rows, int64_t classes)
      : rows_(rows), classes_(classes) {}

  double ValueOf(int64_t example, const float* outputs,
                 const std::byte* labels) const override {
    int64_t right = 0;
    for (int64_t row = example * rows_; row < (example + 1) * rows_; ++row) {
      const float* const label =
          reinterpret_cast<const float*>(labels) + row * classes_;
      right +=
          ArgMax(outputs + row * classes_, classes_) == ArgMax(label, classes_)
              ? 1
              : 0;
    }
    return static_cast<double>(right) / static_cast<double>(rows_);
  }

 private:
  int64_t rows_;
  int64_t classes_;
};

class SparseCategoricalAccuracyKernel final : public MetricKernel {
 public:
  explicit SparseCategoricalAccuracyKernel(int64_t classes)
      : classes_(classes) {}

  double ValueOf(int64_t example, const float* outputs,
                 const std::byte* labels) const override {
    const int32_t label = reinterpret_cast<const int32_t*>(labels)[example];
    return ArgMax(outputs + example * classes_, classes_) == label ? 1 : 0;
  }

 private:
  int64_t classes_;
};

}  // namespace

std::unique_ptr<const MetricKernel> MakeBinaryAccuracy(const Metric& metric,
                                                       const Shape& output) {
  return std::make_unique<BinaryAccuracyKernel>(
      static_cast<const BinaryAccuracy&>(metric).threshold,
      NumElements(output));
}

std::unique_ptr<const MetricKernel> MakeCategoricalAccuracy(
    const Metric& /*metric*/, const Shape& output) {
  return std::make_unique<CategoricalAccuracyKernel>(
      NumElements(output) / output.back(), output.back());
}

std::unique_ptr<const MetricKernel> MakeSparseCategoricalAccuracy(
    const Metric& /*metric*/, const Shape& output) {
  return std::make_unique<SparseCategoricalAccuracyKernel>(output.back());
}

}  // namespace paceline::cpu
