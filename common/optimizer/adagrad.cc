#include "common/optimizer/adagrad.h"

#include "common/config/field_table.h"
#include "common/optimizer/base_fields.h"
#include "common/optimizer/optimizers.h"

namespace paceline {

const FieldTable<Adagrad>& Adagrad::Fields() {
  static const auto& table = *new FieldTable<Adagrad>(
      kClassName, "Gradients divided by the root of the sum of their squares.",
      WithBaseFields<Adagrad>({
          Optional("initial_accumulator_value",
                   &Adagrad::initial_accumulator_value, AtLeast(0),
                   "What the sums of squares begin at."),
          Optional("epsilon", &Adagrad::epsilon, AtLeast(0),
                   "Keeps the divisor from zero."),
      }));
  return table;
}

std::vector<std::string> Adagrad::formula_slot_names() const {
  return {"accumulator"};
}

AnyFormula Adagrad::FormulaFor(const UpdatedVariable& /*variable*/) const {
  return AdagradFormula{epsilon};
}

}  // namespace paceline
