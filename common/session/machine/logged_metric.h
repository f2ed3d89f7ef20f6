// The loss and the metrics of a job, as they appear in its logs.
#ifndef PACELINE_COMMON_SESSION_MACHINE_LOGGED_METRIC_H_
#define PACELINE_COMMON_SESSION_MACHINE_LOGGED_METRIC_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/callback/logs.h"
#include "common/model/output_spec.h"

namespace paceline {

struct LoggedMetric {
  // The key in logs.
  std::string name;
  // Numbers in the metric's state.
  size_t state_size = 2;
  // Computes the value from a state that has seen at least one example. Null:
  // the metric is a mean without weights, whose state is a total and a count.
  std::function<double(absl::Span<const double>)> result = nullptr;

  bool is_mean() const { return result == nullptr; }
};

// The loss, then the metrics of all outputs, with states laid out as in
// MetricLayout. The metrics must outlive the result.
std::vector<LoggedMetric> MakeLoggedMetrics(
    absl::Span<const OutputSpec> outputs);

// Numbers in the states of all metrics together.
size_t StateSize(absl::Span<const LoggedMetric> metrics);
// How many of these numbers each report of an open lease carries: all, or only
// those of the loss if there are many (limits::kMaxReportedState).
size_t ReportedSize(absl::Span<const LoggedMetric> metrics);

// The values of the metrics, "loss" first, whose states are concatenated in
// `states`.
Logs ResultsOf(absl::Span<const LoggedMetric> metrics,
               absl::Span<const double> states);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_LOGGED_METRIC_H_
