#include "common/session/machine/logged_metric.h"

#include <memory>

#include "common/model/metric.h"
#include "common/model/metric_layout.h"
#include "glog/logging.h"

namespace paceline {

std::vector<LoggedMetric> MakeLoggedMetrics(
    absl::Span<const OutputSpec> outputs) {
  std::vector<LoggedMetric> logged = {{.name = "loss"}};
  for (const OutputSpec& output : outputs) {
    for (const std::unique_ptr<const Metric>& metric : output.metrics) {
      LoggedMetric& added = logged.emplace_back();
      added.name = metric->name;
      added.state_size = static_cast<size_t>(metric->state_size());
      if (metric->is_mean() && !metric->is_weighted) continue;
      added.result = [of = metric.get()](absl::Span<const double> state) {
        return of->Result(state);
      };
    }
  }
  return logged;
}

size_t StateSize(absl::Span<const LoggedMetric> metrics) {
  size_t size = 0;
  for (const LoggedMetric& metric : metrics) size += metric.state_size;
  return size;
}

size_t ReportedSize(absl::Span<const LoggedMetric> metrics) {
  return ReportedSize(StateSize(metrics));
}

Logs ResultsOf(absl::Span<const LoggedMetric> metrics,
               absl::Span<const double> states) {
  CHECK_EQ(states.size(), StateSize(metrics));
  Logs logs;
  for (const LoggedMetric& metric : metrics) {
    const absl::Span<const double> state = states.first(metric.state_size);
    logs.emplace_back(metric.name, metric.is_mean() ? state[0] / state[1]
                                                    : metric.result(state));
    states.remove_prefix(metric.state_size);
  }
  return logs;
}

}  // namespace paceline
