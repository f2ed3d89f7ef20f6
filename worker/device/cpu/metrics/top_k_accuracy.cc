#include <algorithm>
#include <cmath>

#include "common/model/metrics/sparse_top_k_categorical_accuracy.h"
#include "common/model/metrics/top_k_categorical_accuracy.h"
#include "worker/device/cpu/metrics/metric_kernel.h"

namespace paceline::cpu {
namespace {

// Right if all outputs are finite, and fewer than k are larger than that of the
// label.
class TopKAccuracyKernel final : public MetricKernel {
 public:
  TopKAccuracyKernel(int64_t k, int64_t classes, bool has_sparse_labels)
      : k_(k), classes_(classes), has_sparse_labels_(has_sparse_labels) {}

  double ValueOf(int64_t example, const float* outputs,
                 const std::byte* labels) const override {
    const float* const row = outputs + example * classes_;
    const float chosen = row[LabelOf(example, labels)];
    const auto is_finite = [](float y) { return std::isfinite(y); };
    const auto is_larger = [&](float y) { return y > chosen; };
    const bool is_right = std::all_of(row, row + classes_, is_finite) &&
                          std::count_if(row, row + classes_, is_larger) < k_;
    return is_right ? 1 : 0;
  }

 private:
  int64_t LabelOf(int64_t example, const std::byte* labels) const {
    if (has_sparse_labels_) {
      return reinterpret_cast<const int32_t*>(labels)[example];
    }
    const float* const row =
        reinterpret_cast<const float*>(labels) + example * classes_;
    return std::max_element(row, row + classes_) - row;
  }

  int64_t k_;
  int64_t classes_;
  bool has_sparse_labels_;
};

}  // namespace

std::unique_ptr<const MetricKernel> MakeTopKCategoricalAccuracy(
    const Metric& metric, const Shape& output) {
  return std::make_unique<TopKAccuracyKernel>(
      static_cast<const TopKCategoricalAccuracy&>(metric).k, output.back(),
      /*has_sparse_labels=*/false);
}

std::unique_ptr<const MetricKernel> MakeSparseTopKCategoricalAccuracy(
    const Metric& metric, const Shape& output) {
  return std::make_unique<TopKAccuracyKernel>(
      static_cast<const SparseTopKCategoricalAccuracy&>(metric).k,
      output.back(), /*has_sparse_labels=*/true);
}

}  // namespace paceline::cpu
