#include "common/optimizer/adam.h"

#include "common/config/field_table.h"
#include "common/optimizer/base_fields.h"
#include "common/optimizer/optimizers.h"

namespace paceline {
namespace {

template <bool kAmsgrad>
AdamFormula<kAmsgrad> FormulaOf(const Adam& adam) {
  return {.one_minus_beta_1 = 1 - adam.beta_1,
          .one_minus_beta_2 = 1 - adam.beta_2,
          .epsilon = adam.epsilon};
}

}  // namespace

double AdamStepSize(const UpdateStep& step, double beta_1, double beta_2) {
  return step.learning_rate * std::sqrt(1 - std::pow(beta_2, step.t())) /
         (1 - std::pow(beta_1, step.t()));
}

std::vector<Field<Adam>> Adam::OwnFields() {
  return {
      Optional("beta_1", &Adam::beta_1, Within(0, 1),
               "Decay of the mean of the gradients."),
      Optional("beta_2", &Adam::beta_2, Within(0, 1),
               "Decay of the mean of their squares."),
      Optional("epsilon", &Adam::epsilon, AtLeast(0),
               "Keeps the divisor from zero."),
      Optional("amsgrad", &Adam::amsgrad,
               "Whether the largest mean of squares so far is used."),
  };
}

const FieldTable<Adam>& Adam::Fields() {
  static const auto& table = *new FieldTable<Adam>(
      kClassName, "Adam, with adaptive estimates of the gradients' moments.",
      WithBaseFields<Adam>(OwnFields()));
  return table;
}

std::vector<std::string> Adam::formula_slot_names() const {
  if (amsgrad) return {"momentum", "velocity", "velocity_hat"};
  return {"momentum", "velocity"};
}

AnyFormula Adam::FormulaFor(const UpdatedVariable& /*variable*/) const {
  if (amsgrad) return FormulaOf<true>(*this);
  return FormulaOf<false>(*this);
}

StepScalars Adam::ScalarsOf(const UpdateStep& step) const {
  return {{AdamStepSize(step, beta_1, beta_2)}};
}

}  // namespace paceline
