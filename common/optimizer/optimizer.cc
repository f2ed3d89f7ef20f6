#include "common/optimizer/optimizer.h"

#include <variant>

#include "common/optimizer/apply_formula.h"
#include "common/optimizer/optimizers.h"

namespace paceline {
namespace {

template <typename T>
void ApplyTyped(const Optimizer& optimizer, const UpdateStep& step,
                const UpdateRange<T>& range) {
  const StepScalars scalars = optimizer.ScalarsOf(step);
  std::visit(
      [&](const auto& formula) { ApplyFormula(formula, scalars, range); },
      optimizer.FormulaFor(range.variable));
}

}  // namespace

bool Optimizer::updates_whole_variables() const {
  return std::visit(
      []<typename Formula>(const Formula& /*formula*/) {
        return UpdatesWholeVariables<Formula>;
      },
      formula());
}

AnyFormula Optimizer::FormulaFor(const UpdatedVariable& /*variable*/) const {
  return formula();
}

void Optimizer::Apply(const UpdateStep& step,
                      const UpdateRange<float>& range) const {
  ApplyTyped(*this, step, range);
}

void Optimizer::Apply(const UpdateStep& step,
                      const UpdateRange<double>& range) const {
  ApplyTyped(*this, step, range);
}

}  // namespace paceline
