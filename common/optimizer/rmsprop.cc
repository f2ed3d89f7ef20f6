#include "common/optimizer/rmsprop.h"

#include "common/config/field_table.h"
#include "common/optimizer/base_fields.h"
#include "common/optimizer/optimizers.h"

namespace paceline {
namespace {

template <bool kMomentum>
AnyFormula FormulaOf(const RmsProp& o) {
  if (o.centered) {
    return RmsPropFormula<kMomentum, true>{o.rho, o.momentum, o.epsilon};
  }
  return RmsPropFormula<kMomentum, false>{o.rho, o.momentum, o.epsilon};
}

}  // namespace

const FieldTable<RmsProp>& RmsProp::Fields() {
  static const auto& table = *new FieldTable<RmsProp>(
      kClassName, "Gradients divided by the root of a mean of their squares.",
      WithBaseFields<RmsProp>({
          Optional("rho", &RmsProp::rho, Within(0, 1),
                   "Decay of the means of the gradients and their squares."),
          Optional("momentum", &RmsProp::momentum, Between(0, 1),
                   "Share of the last update that is added to the next."),
          Optional("epsilon", &RmsProp::epsilon, AtLeast(0),
                   "Keeps the divisor from zero."),
          Optional("centered", &RmsProp::centered,
                   "Whether gradients are divided by the root of their "
                   "variance instead."),
      }));
  return table;
}

std::vector<std::string> RmsProp::formula_slot_names() const {
  std::vector<std::string> names = {"velocity"};
  if (momentum > 0) names.push_back("momentum");
  if (centered) names.push_back("average_gradient");
  return names;
}

AnyFormula RmsProp::FormulaFor(const UpdatedVariable& /*variable*/) const {
  return momentum > 0 ? FormulaOf<true>(*this) : FormulaOf<false>(*this);
}

}  // namespace paceline
