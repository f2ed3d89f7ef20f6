// Where the loss and the metrics of a job keep their states: in one list of
// numbers, which batches, replicas and leases add up,
//
//   total of the loss, its count; state of metric 0; state of metric 1; …
//
// Where a model has several outputs, the loss is that of all together, and the
// metrics of the first output come first.
#ifndef PACELINE_COMMON_MODEL_METRIC_LAYOUT_H_
#define PACELINE_COMMON_MODEL_METRIC_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "common/limits.h"
#include "common/model/metric.h"
#include "common/model/output_spec.h"

namespace paceline {

// Of `size` numbers of the loss and all metrics, those that each report of a
// lease has until the lease ends: all, or where they are many the loss's alone.
inline size_t ReportedSize(size_t size) {
  return size > limits::kMaxReportedState ? 2 : size;
}

// Immutable; thread-safe.
class MetricLayout {
 public:
  explicit MetricLayout(
      absl::Span<const std::unique_ptr<const Metric>> metrics) {
    Append(metrics);
  }
  explicit MetricLayout(absl::Span<const OutputSpec> outputs) {
    for (const OutputSpec& output : outputs) Append(output.metrics);
  }

  // Of all states together.
  size_t size() const { return size_; }
  // Of them, those in each report of a lease until the lease ends.
  size_t reported_size() const { return ReportedSize(size_); }
  // Of the first number of a metric's state; by index among those of all
  // outputs.
  size_t offset(size_t metric) const { return offsets_[metric]; }

 private:
  void Append(absl::Span<const std::unique_ptr<const Metric>> metrics) {
    for (const std::unique_ptr<const Metric>& metric : metrics) {
      offsets_.push_back(size_);
      size_ += static_cast<size_t>(metric->state_size());
    }
  }

  std::vector<size_t> offsets_;
  // The loss comes first.
  size_t size_ = 2;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRIC_LAYOUT_H_
