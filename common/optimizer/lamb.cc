#include "common/optimizer/lamb.h"

#include "common/config/field_table.h"
#include "common/optimizer/base_fields.h"
#include "common/optimizer/optimizers.h"

namespace paceline {

const FieldTable<Lamb>& Lamb::Fields() {
  static const auto& table = *new FieldTable<Lamb>(
      kClassName,
      "LAMB: Adam, with the update of each variable scaled to learning_rate "
      "times the norm of the variable.",
      WithBaseFields<Lamb>({
          Optional("beta_1", &Lamb::beta_1, Within(0, 1),
                   "Decay of the mean of the gradients."),
          Optional("beta_2", &Lamb::beta_2, Within(0, 1),
                   "Decay of the mean of their squares."),
          Optional("epsilon", &Lamb::epsilon, AtLeast(0),
                   "Keeps the divisor from zero."),
      }));
  return table;
}

std::vector<std::string> Lamb::formula_slot_names() const {
  return {"momentum", "velocity"};
}

AnyFormula Lamb::FormulaFor(const UpdatedVariable& /*variable*/) const {
  return LambFormula{.one_minus_beta_1 = 1 - beta_1,
                     .one_minus_beta_2 = 1 - beta_2,
                     .epsilon = epsilon};
}

StepScalars Lamb::ScalarsOf(const UpdateStep& step) const {
  const double t = step.t();
  return {
      {step.learning_rate, 1 - std::pow(beta_1, t), 1 - std::pow(beta_2, t)}};
}

}  // namespace paceline
