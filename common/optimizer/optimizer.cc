#include "common/optimizer/optimizer.h"

#include <cstdint>
#include <functional>
#include <numeric>
#include <variant>

#include "common/optimizer/apply_formula.h"
#include "common/optimizer/newton_schulz.h"
#include "common/optimizer/optimizers.h"
#include "glog/logging.h"

namespace paceline {
namespace {

int64_t ElementsOf(const UpdatedVariable& variable) {
  return std::accumulate(variable.shape.begin(), variable.shape.end(),
                         int64_t{1}, std::multiplies<>());
}

template <typename T>
void ApplyTyped(const Optimizer& optimizer, const UpdateStep& step,
                const UpdateRange<T>& range) {
  const StepScalars scalars = optimizer.ScalarsOf(step);
  std::visit(
      [&]<typename Formula>(const Formula& formula) {
        if constexpr (UpdatesWholeVariables<Formula>) {
          CHECK_EQ(ElementsOf(range.variable),
                   static_cast<int64_t>(range.values.size()))
              << "of variable " << range.variable.name;
        }
        ApplyFormula(formula, scalars, range);
      },
      optimizer.FormulaFor(range.variable));
}

}  // namespace

bool Optimizer::NeedsWhole(const UpdatedVariable& variable) const {
  return std::visit(
      []<typename Formula>(const Formula& /*formula*/) {
        return UpdatesWholeVariables<Formula>;
      },
      FormulaFor(variable));
}

double Optimizer::MultiplicationsOf(const UpdatedVariable& variable) const {
  return std::visit(
      []<typename Formula>(const Formula& formula) {
        if constexpr (UpdatesMatrices<Formula>) {
          return paceline::MultiplicationsOf(formula.iteration, formula.rows,
                                             formula.columns);
        }
        return 0.0;
      },
      FormulaFor(variable));
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
