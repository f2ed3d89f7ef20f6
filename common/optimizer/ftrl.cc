#include "common/optimizer/ftrl.h"

#include "common/config/field_table.h"
#include "common/optimizer/base_fields.h"
#include "common/optimizer/optimizers.h"

namespace paceline {
namespace {

template <bool kIsRoot>
FtrlFormula<kIsRoot> FormulaOf(const Ftrl& ftrl) {
  return {.power = -ftrl.learning_rate_power,
          .l1 = ftrl.l1_regularization_strength,
          .l2 = ftrl.l2_regularization_strength,
          .l2_shrinkage = ftrl.l2_shrinkage_regularization_strength,
          .beta = ftrl.beta};
}

}  // namespace

const FieldTable<Ftrl>& Ftrl::Fields() {
  static const auto& table = *new FieldTable<Ftrl>(
      kClassName, "FTRL-Proximal, for sparse models.",
      WithBaseFields<Ftrl>({
          Optional(
              "learning_rate_power", &Ftrl::learning_rate_power, AtMost(0),
              "Power by which the sum of squares divides the learning rate."),
          Optional("initial_accumulator_value",
                   &Ftrl::initial_accumulator_value, AtLeast(0),
                   "What the sums of squares begin at."),
          Optional("l1_regularization_strength",
                   &Ftrl::l1_regularization_strength, AtLeast(0),
                   "L1 penalty."),
          Optional("l2_regularization_strength",
                   &Ftrl::l2_regularization_strength, AtLeast(0),
                   "L2 penalty."),
          Optional("l2_shrinkage_regularization_strength",
                   &Ftrl::l2_shrinkage_regularization_strength, AtLeast(0),
                   "L2 penalty of the gradients alone."),
          Optional("beta", &Ftrl::beta, AtLeast(0), "The beta of the paper."),
      }));
  return table;
}

std::vector<std::string> Ftrl::formula_slot_names() const {
  return {"accumulator", "linear"};
}

AnyFormula Ftrl::FormulaFor(const UpdatedVariable& /*variable*/) const {
  if (learning_rate_power == -0.5) return FormulaOf<true>(*this);
  return FormulaOf<false>(*this);
}

}  // namespace paceline
