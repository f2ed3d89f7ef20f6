#include "common/optimizer/adadelta.h"

#include "common/config/field_table.h"
#include "common/optimizer/base_fields.h"
#include "common/optimizer/optimizers.h"

namespace paceline {

const FieldTable<Adadelta>& Adadelta::Fields() {
  static const auto& table = *new FieldTable<Adadelta>(
      kClassName,
      "Gradients scaled by the means of the squares of earlier updates and "
      "gradients.",
      WithBaseFields<Adadelta>({
          Optional("rho", &Adadelta::rho, Within(0, 1), "Decay of both means."),
          Optional("epsilon", &Adadelta::epsilon, AtLeast(0),
                   "Keeps the divisor from zero."),
      }));
  return table;
}

std::vector<std::string> Adadelta::formula_slot_names() const {
  return {"accumulated_grad", "accumulated_delta_var"};
}

AnyFormula Adadelta::FormulaFor(const UpdatedVariable& /*variable*/) const {
  return AdadeltaFormula{rho, epsilon};
}

}  // namespace paceline
