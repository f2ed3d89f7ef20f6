#include "common/optimizer/sgd.h"

#include "common/config/field_table.h"
#include "common/optimizer/base_fields.h"
#include "common/optimizer/optimizers.h"

namespace paceline {

const FieldTable<Sgd>& Sgd::Fields() {
  static const auto& table = *new FieldTable<Sgd>(
      kClassName, "Stochastic gradient descent, with momentum if asked for.",
      WithBaseFields<Sgd>({
          Optional("momentum", &Sgd::momentum, Between(0, 1),
                   "Share of the last update that is added to the next."),
          Optional("nesterov", &Sgd::nesterov,
                   "Whether the momentum looks ahead."),
      }));
  return table;
}

std::vector<std::string> Sgd::formula_slot_names() const {
  if (momentum == 0) return {};
  return {"momentum"};
}

AnyFormula Sgd::FormulaFor(const UpdatedVariable& /*variable*/) const {
  if (momentum == 0) return SgdFormula{};
  if (nesterov) return MomentumFormula<true>{momentum};
  return MomentumFormula<false>{momentum};
}

}  // namespace paceline
