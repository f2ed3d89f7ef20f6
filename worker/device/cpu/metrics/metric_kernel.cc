#include "worker/device/cpu/metrics/metric_kernel.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/model/metrics/binary_accuracy.h"
#include "common/model/metrics/categorical_accuracy.h"
#include "common/model/metrics/sparse_categorical_accuracy.h"
#include "common/model/metrics/sparse_top_k_categorical_accuracy.h"
#include "common/model/metrics/top_k_categorical_accuracy.h"

namespace paceline::cpu {
namespace {

struct Entry {
  const char* class_name;
  MetricKernelFactory* make;
};

constexpr Entry kMetrics[] = {
    {BinaryAccuracy::kClassName, MakeBinaryAccuracy},
    {CategoricalAccuracy::kClassName, MakeCategoricalAccuracy},
    {SparseCategoricalAccuracy::kClassName, MakeSparseCategoricalAccuracy},
    {SparseTopKCategoricalAccuracy::kClassName,
     MakeSparseTopKCategoricalAccuracy},
    {TopKCategoricalAccuracy::kClassName, MakeTopKCategoricalAccuracy},
};

}  // namespace

absl::StatusOr<std::unique_ptr<const MetricKernel>> MakeMetricKernel(
    const Metric& metric, const Shape& output) {
  for (const Entry& entry : kMetrics) {
    if (metric.class_name() == entry.class_name) {
      return entry.make(metric, output);
    }
  }
  return absl::UnimplementedError(
      absl::StrCat("metric ", metric.name, " (", metric.class_name(),
                   "): the cpu device cannot compute it"));
}

}  // namespace paceline::cpu
