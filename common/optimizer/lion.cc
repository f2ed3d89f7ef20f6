#include "common/optimizer/lion.h"

#include "common/config/field_table.h"
#include "common/optimizer/base_fields.h"
#include "common/optimizer/optimizers.h"

namespace paceline {

const FieldTable<Lion>& Lion::Fields() {
  static const auto& table = *new FieldTable<Lion>(
      kClassName, "Steps of one size, by the sign of a mean of the gradients.",
      WithBaseFields<Lion>({
          Optional("beta_1", &Lion::beta_1, AboveUpTo(0, 1),
                   "Share of the mean in the sign."),
          Optional("beta_2", &Lion::beta_2, Within(0, 1),
                   "Decay of the mean of the gradients."),
      }));
  return table;
}

std::vector<std::string> Lion::formula_slot_names() const {
  return {"momentum"};
}

AnyFormula Lion::FormulaFor(const UpdatedVariable& /*variable*/) const {
  return LionFormula{beta_1, beta_2};
}

}  // namespace paceline
