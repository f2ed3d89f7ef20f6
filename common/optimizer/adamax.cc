#include "common/optimizer/adamax.h"

#include "common/config/field_table.h"
#include "common/optimizer/base_fields.h"
#include "common/optimizer/optimizers.h"

namespace paceline {

const FieldTable<Adamax>& Adamax::Fields() {
  static const auto& table = *new FieldTable<Adamax>(
      kClassName,
      "Adam with the largest gradient in the place of the mean of squares.",
      WithBaseFields<Adamax>({
          Optional("beta_1", &Adamax::beta_1, Within(0, 1),
                   "Decay of the mean of the gradients."),
          Optional("beta_2", &Adamax::beta_2, Within(0, 1),
                   "Decay of the largest gradient."),
          Optional("epsilon", &Adamax::epsilon, AtLeast(0),
                   "Keeps the divisor from zero."),
      }));
  return table;
}

std::vector<std::string> Adamax::formula_slot_names() const {
  return {"momentum", "norm"};
}

AnyFormula Adamax::FormulaFor(const UpdatedVariable& /*variable*/) const {
  return AdamaxFormula{1 - beta_1, beta_2, epsilon};
}

StepScalars Adamax::ScalarsOf(const UpdateStep& step) const {
  const double t = step.t();
  return {{step.learning_rate / (1 - std::pow(beta_1, t))}};
}

}  // namespace paceline
