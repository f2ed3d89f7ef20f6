// Mean of log(cosh(e)) over the elements of an output of any shape, where e =
// output - label: e² / 2 for small errors, |e| - log 2 for large ones. Computed
// as e + softplus(-2 e) - log 2, as keras.losses.LogCosh does.
#ifndef PACELINE_COMMON_MODEL_LOSSES_LOG_COSH_H_
#define PACELINE_COMMON_MODEL_LOSSES_LOG_COSH_H_

#include "absl/strings/string_view.h"
#include "common/model/loss.h"

namespace paceline {

template <typename T>
class FieldTable;

class LogCosh : public Loss {
 public:
  static constexpr char kClassName[] = "LogCosh";
  static const FieldTable<LogCosh>& Fields();

  LogCosh() : Loss("log_cosh") {}

  absl::string_view class_name() const override { return kClassName; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_LOG_COSH_H_
