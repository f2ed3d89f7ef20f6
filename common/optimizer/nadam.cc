#include "common/optimizer/nadam.h"

#include <algorithm>
#include <cstdint>

#include "common/config/field_table.h"
#include "common/optimizer/base_fields.h"
#include "common/optimizer/optimizers.h"

namespace paceline {
namespace {

// u(t).
double MomentumAt(double beta_1, double t) {
  return beta_1 * (1 - 0.5 * std::pow(0.96, t));
}

// p(t), exact in 1 - p(t). Factors after the first 1000 equal beta_1 in
// float64.
double ProductOfMomenta(double beta_1, int64_t t) {
  constexpr int64_t kFactors = 1000;
  constexpr double kNothing = 1e-20;
  double product = 1;
  double decay = 1;
  for (int64_t i = 1; i <= std::min(t, kFactors); ++i) {
    decay *= 0.96;
    product *= beta_1 * (1 - 0.5 * decay);
    if (product < kNothing) return product;
  }
  const int64_t others = std::max<int64_t>(0, t - kFactors);
  return product * std::pow(beta_1, static_cast<double>(others));
}

}  // namespace

const FieldTable<Nadam>& Nadam::Fields() {
  static const auto& table = *new FieldTable<Nadam>(
      kClassName, "Adam with the momentum of the next step.",
      WithBaseFields<Nadam>({
          Optional("beta_1", &Nadam::beta_1, Within(0, 1),
                   "Decay of the mean of the gradients."),
          Optional("beta_2", &Nadam::beta_2, Within(0, 1),
                   "Decay of the mean of their squares."),
          Optional("epsilon", &Nadam::epsilon, AtLeast(0),
                   "Keeps the divisor from zero."),
      }));
  return table;
}

std::vector<std::string> Nadam::formula_slot_names() const {
  return {"momentum", "velocity"};
}

AnyFormula Nadam::FormulaFor(const UpdatedVariable& /*variable*/) const {
  return NadamFormula{1 - beta_1, 1 - beta_2, epsilon};
}

std::vector<double> Nadam::NumbersAfter(int64_t updates) const {
  return {ProductOfMomenta(beta_1, updates)};
}

StepScalars Nadam::ScalarsOf(const UpdateStep& step) const {
  const double t = step.t();
  const double u = MomentumAt(beta_1, t);
  const double next_u = MomentumAt(beta_1, t + 1);
  const double product = ProductOfMomenta(beta_1, step.iterations + 1);
  return {{step.learning_rate * next_u / (1 - product * next_u),
           step.learning_rate * (1 - u) / (1 - product),
           1 - std::pow(beta_2, t)}};
}

}  // namespace paceline
