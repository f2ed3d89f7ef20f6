// The loss LogCosh as a metric, which Keras has under a name of its own.
#ifndef PACELINE_COMMON_MODEL_METRICS_LOG_COSH_ERROR_H_
#define PACELINE_COMMON_MODEL_METRICS_LOG_COSH_ERROR_H_

#include "absl/strings/string_view.h"
#include "common/model/metric.h"

namespace paceline {

template <typename T>
class FieldTable;

class LogCoshError : public Metric {
 public:
  static constexpr char kClassName[] = "LogCoshError";
  static const FieldTable<LogCoshError>& Fields();

  LogCoshError() { name = "logcosh"; }

  absl::string_view class_name() const override { return kClassName; }
  op::Tensor Lower(const op::Tensor& output,
                   const op::Tensor& labels) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_LOG_COSH_ERROR_H_
