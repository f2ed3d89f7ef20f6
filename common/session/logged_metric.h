// The loss and the metrics of a job, as its logs have them.
#ifndef PACELINE_COMMON_SESSION_LOGGED_METRIC_H_
#define PACELINE_COMMON_SESSION_LOGGED_METRIC_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "common/model/metric.h"

namespace paceline {

// Values of the loss and the metrics by their names; "loss" first.
using Logs = std::vector<std::pair<std::string, double>>;

struct LoggedMetric {
  // The key in logs.
  std::string name;
  // Numbers of its state.
  size_t state_size = 2;
  // The value of a state, which has seen an example or more. Null: it is a
  // mean, whose state is a total and a count.
  std::function<double(absl::Span<const double>)> result = nullptr;

  bool is_mean() const { return result == nullptr; }
};

// The loss, then `metrics`, as MetricLayout has their states. The metrics
// outlive what is returned.
std::vector<LoggedMetric> MakeLoggedMetrics(
    absl::Span<const std::unique_ptr<const Metric>> metrics);

// Numbers of all states together.
size_t StateSize(absl::Span<const LoggedMetric> metrics);
// Of them, those in each report of a lease until the lease ends.
size_t ReportedSize(absl::Span<const LoggedMetric> metrics);

// The values of the metrics, whose states lie one behind the other.
Logs ResultsOf(absl::Span<const LoggedMetric> metrics,
               absl::Span<const double> states);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LOGGED_METRIC_H_
