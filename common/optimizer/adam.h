// Adam (Kingma and Ba, 2015), as keras.optimizers.Adam computes it:
//
//   t = iterations + 1
//   a = lr · sqrt(1 - beta_2^t) / (1 - beta_1^t)
//   m += (g - m) · (1 - beta_1)
//   v += (g² - v) · (1 - beta_2)
//   w -= a · m / (sqrt(v) + epsilon)
//
// With `amsgrad`, the largest v so far takes the place of v in the last line.
#ifndef PACELINE_COMMON_OPTIMIZER_ADAM_H_
#define PACELINE_COMMON_OPTIMIZER_ADAM_H_

#include "common/config/field_table.h"
#include "common/optimizer/learning_rate.h"
#include "common/optimizer/optimizer.h"

namespace paceline {

class Adam final : public Optimizer {
 public:
  static const FieldTable<Adam>& Fields();

  absl::string_view class_name() const override { return "Adam"; }
  std::vector<std::string> slot_names() const override;
  double LearningRate(int64_t iterations) const override;
  // a of the update that follows `iterations` updates.
  double StepSize(int64_t iterations) const;
  void Apply(int64_t iterations, UpdateRange<float> range) const override;
  void Apply(int64_t iterations, UpdateRange<double> range) const override;

  std::string name = "adam";
  paceline::LearningRate learning_rate = {0.001};
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_ADAM_H_
