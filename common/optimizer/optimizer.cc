#include "common/optimizer/optimizer.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/optimizer/apply_formula.h"
#include "common/optimizer/constrain.h"
#include "common/optimizer/gradient_accumulation.h"
#include "common/optimizer/moving_average.h"
#include "common/optimizer/newton_schulz.h"
#include "common/optimizer/optimizers.h"
#include "common/tensor/shape.h"
#include "glog/logging.h"

namespace paceline {
namespace {

template <typename T>
void AccumulateTyped(const Optimizer& optimizer, const UpdateStep& step,
                     absl::Span<T> gradients,
                     absl::Span<const absl::Span<T>> slots) {
  if (!optimizer.accumulates()) return;
  AccumulateGradients(step.accumulation, gradients,
                      slots[optimizer.AccumulatorSlotOf(slots.size())]);
}

template <typename T>
void ApplyFormulaOf(const Optimizer& optimizer, const UpdateStep& step,
                    const UpdateRange<T>& range) {
  const StepScalars scalars = optimizer.ScalarsOf(step);
  const T decay_rate = static_cast<T>(optimizer.WeightDecayOf(range.variable) *
                                      step.learning_rate);
  std::visit(
      [&]<typename Formula>(const Formula& formula) {
        if constexpr (UpdatesWholeVariables<Formula>) {
          CHECK_EQ(NumElements(range.variable.shape),
                   static_cast<int64_t>(range.values.size()))
              << "of variable " << range.variable.name;
        }
        ApplyFormula(formula, scalars, range, decay_rate);
      },
      optimizer.FormulaFor(range.variable));
}

template <typename T>
void ApplyTyped(const Optimizer& optimizer, const UpdateStep& step,
                const UpdateRange<T>& range) {
  const bool changes = optimizer.Changes(range.variable);
  if (changes && step.accumulation.updates) {
    ApplyFormulaOf(optimizer, step, range);
  }
  if (optimizer.use_ema) {
    CHECK(!range.slots.empty());
    UpdateAverages(optimizer.AveragingOf(step), range.values,
                   range.slots.back());
  }
  if (!changes) return;
  if (const Constraint* constraint = optimizer.ConstraintOf(range.variable)) {
    Constrain(*constraint, range.variable.shape, range.values);
  }
}

}  // namespace

std::vector<std::string> Optimizer::slot_names() const {
  std::vector<std::string> names = formula_slot_names();
  if (accumulates()) names.emplace_back(kAccumulatorSlot);
  if (use_ema) names.emplace_back(kAverageSlot);
  return names;
}

UpdateStep Optimizer::StepAfter(int64_t iterations,
                                std::optional<double> given_rate) const {
  const int64_t calls = initial_iterations + iterations;
  const int64_t n = calls_per_update();
  return {.iterations = UpdatesAfter(calls),
          .learning_rate = given_rate ? *given_rate : learning_rate.At(calls),
          .accumulation = {.steps = static_cast<double>(n),
                           .updates = (calls + 1) % n == 0}};
}

Averaging Optimizer::AveragingOf(const UpdateStep& step) const {
  const int64_t frequency = ema_overwrite_frequency.value_or(0);
  return {
      .momentum = step.iterations == 0 ? 0 : ema_momentum,
      .overwrites = frequency > 0 && (step.iterations + 1) % frequency == 0};
}

double Optimizer::WeightDecayOf(const UpdatedVariable& variable) const {
  // After the last slash; npos + 1 is 0.
  const absl::string_view own_name =
      variable.name.substr(variable.name.rfind('/') + 1);
  if (exclude_from_weight_decay.SelectsName(own_name)) return 0;
  return DecayOf(variable).value_or(0);
}

const Constraint* Optimizer::ConstraintOf(
    const UpdatedVariable& variable) const {
  const auto found = constraints.find(variable.name);
  return found == constraints.end() ? nullptr : &found->second;
}

bool Optimizer::NeedsWhole(const UpdatedVariable& variable) const {
  const Constraint* const constraint = ConstraintOf(variable);
  if (constraint != nullptr && constraint->has_norms()) return true;
  return std::visit(
      []<typename Formula>(const Formula& /*formula*/) {
        return UpdatesWholeVariables<Formula>;
      },
      FormulaFor(variable));
}

int Optimizer::SlotCountOf(const UpdatedVariable& variable) const {
  return std::visit(
      []<typename Formula>(const Formula& /*formula*/) {
        return Formula::kSlotCount;
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

void Optimizer::Accumulate(const UpdateStep& step, absl::Span<float> gradients,
                           absl::Span<const absl::Span<float>> slots) const {
  AccumulateTyped(*this, step, gradients, slots);
}

void Optimizer::Accumulate(const UpdateStep& step, absl::Span<double> gradients,
                           absl::Span<const absl::Span<double>> slots) const {
  AccumulateTyped(*this, step, gradients, slots);
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
