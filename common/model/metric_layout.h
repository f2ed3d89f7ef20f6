// The layout of the states of loss and metrics: a single list of numbers, which
// is summed over batches, replicas and leases:
//
//   total of the loss, its count; state of metric 0; state of metric 1; …
//
// If a model has several outputs, the loss is the sum over all, and the metrics
// of the first output come first.
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

// Given `size` numbers in all states, how many of them each report of an open
// lease has: all, or only the loss's if there are many.
inline size_t ReportedSize(size_t size) {
  return size > limits::kMaxReportedState ? 2 : size;
}

// Immutable; thread-safe.
class MetricLayout {
 public:
  explicit MetricLayout(absl::Span<const OutputSpec> outputs) {
    for (const OutputSpec& output : outputs) {
      for (const std::unique_ptr<const Metric>& metric : output.metrics) {
        offsets_.push_back(size_);
        size_ += static_cast<size_t>(metric->state_size());
      }
    }
  }

  // Numbers in all states.
  size_t size() const { return size_; }
  // How many of them each report of an open lease has.
  size_t reported_size() const { return ReportedSize(size_); }
  // Offset of a metric's state. `metric`: index among the metrics of all
  // outputs.
  size_t offset(size_t metric) const { return offsets_[metric]; }

 private:
  std::vector<size_t> offsets_;
  // Starts with the loss's total and count.
  size_t size_ = 2;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRIC_LAYOUT_H_
