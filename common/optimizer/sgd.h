// Stochastic gradient descent, as keras.optimizers.SGD computes it:
//
//   without momentum   w -= lr · g
//   with momentum      m = momentum · m - lr · g;  w += m
//   with nesterov      m = momentum · m - lr · g;  w += momentum · m - lr · g
#ifndef PACELINE_COMMON_OPTIMIZER_SGD_H_
#define PACELINE_COMMON_OPTIMIZER_SGD_H_

#include "common/config/field_table.h"
#include "common/optimizer/learning_rate.h"
#include "common/optimizer/optimizer.h"

namespace paceline {

class Sgd final : public Optimizer {
 public:
  static const FieldTable<Sgd>& Fields();

  absl::string_view class_name() const override { return "SGD"; }
  // {"momentum"}, or none without momentum.
  std::vector<std::string> slot_names() const override;
  double LearningRate(int64_t iterations) const override;
  void Apply(int64_t iterations, UpdateRange<float> range) const override;
  void Apply(int64_t iterations, UpdateRange<double> range) const override;

  std::string name = "SGD";
  paceline::LearningRate learning_rate = {0.01};
  double momentum = 0;
  bool nesterov = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_SGD_H_
