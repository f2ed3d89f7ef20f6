#include "worker/device/cuda/metrics.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/model/metrics/binary_accuracy.h"
#include "common/model/metrics/categorical_accuracy.h"
#include "common/model/metrics/sparse_categorical_accuracy.h"
#include "common/model/metrics/sparse_top_k_categorical_accuracy.h"
#include "common/model/metrics/top_k_categorical_accuracy.h"

namespace paceline::cuda {
namespace {

MetricKernel MakeBinaryAccuracy(const Metric& metric, const Shape& output) {
  const auto threshold =
      static_cast<float>(static_cast<const BinaryAccuracy&>(metric).threshold);
  return [=, size = NumElements(output)](const MetricBlocks& blocks) {
    return BinaryAccuracyValues{threshold, size, blocks.outputs,
                                static_cast<const float*>(blocks.labels),
                                blocks.values};
  };
}

// Places the labels of a kernel that takes both kinds.
template <typename Values>
MetricKernel WithLabels(const Values& kernel, bool has_sparse_labels) {
  return [=](const MetricBlocks& blocks) {
    Values placed = kernel;
    placed.outputs = blocks.outputs;
    if (has_sparse_labels) {
      placed.sparse_labels = static_cast<const int32_t*>(blocks.labels);
    } else {
      placed.labels = static_cast<const float*>(blocks.labels);
    }
    placed.values = blocks.values;
    return placed;
  };
}

MetricKernel MakeCategoricalAccuracy(const Metric& metric,
                                     const Shape& output) {
  CategoricalAccuracyValues kernel;
  kernel.rows = NumElements(output) / output.back();
  kernel.classes = output.back();
  return WithLabels(kernel, metric.has_sparse_labels());
}

template <typename TopKMetric>
MetricKernel MakeTopKAccuracy(const Metric& metric, const Shape& output) {
  TopKAccuracyValues kernel;
  kernel.k = static_cast<const TopKMetric&>(metric).k;
  kernel.classes = output.back();
  return WithLabels(kernel, metric.has_sparse_labels());
}

struct MetricEntry {
  const char* class_name;
  MetricKernel (*make)(const Metric& metric, const Shape& output);
};

constexpr MetricEntry kMetrics[] = {
    {BinaryAccuracy::kClassName, MakeBinaryAccuracy},
    {CategoricalAccuracy::kClassName, MakeCategoricalAccuracy},
    {SparseCategoricalAccuracy::kClassName, MakeCategoricalAccuracy},
    {SparseTopKCategoricalAccuracy::kClassName,
     MakeTopKAccuracy<SparseTopKCategoricalAccuracy>},
    {TopKCategoricalAccuracy::kClassName,
     MakeTopKAccuracy<TopKCategoricalAccuracy>},
};

}  // namespace

absl::StatusOr<MetricKernel> MakeMetricKernel(const Metric& metric,
                                              const Shape& output) {
  for (const MetricEntry& entry : kMetrics) {
    if (metric.class_name() == entry.class_name) {
      return entry.make(metric, output);
    }
  }
  return absl::UnimplementedError(
      absl::StrCat("metric ", metric.name, " (", metric.class_name(),
                   "): the cuda device cannot compute it"));
}

}  // namespace paceline::cuda
