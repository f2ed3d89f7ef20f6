// Optimizers: Keras' configuration, and the formula of the update.
//
// An optimizer is one file in common/optimizer: a class whose public members
// are Keras' config keys, with its field table, its slots, and its formulas
// (formula.h), one of which the config selects. optimizers.h lists all. All
// formulas run by the same loops on the CPU (Apply), and by the same kernels on
// CUDA.
#ifndef PACELINE_COMMON_OPTIMIZER_OPTIMIZER_H_
#define PACELINE_COMMON_OPTIMIZER_OPTIMIZER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/model/constraint.h"
#include "common/optimizer/clipping.h"
#include "common/optimizer/formula.h"
#include "common/optimizer/gradient_accumulation.h"
#include "common/optimizer/learning_rate.h"
#include "common/optimizer/loss_scaling.h"
#include "common/optimizer/moving_average.h"
#include "common/optimizer/name_parts.h"
#include "common/optimizer/update_range.h"

namespace paceline {

// Any formula of any optimizer (optimizers.h).
struct AnyFormula;

// Identifies a call of the optimizer: an update, or with accumulation of
// gradients one of several calls that make an update.
struct UpdateStep {
  // Number of earlier updates.
  int64_t iterations = 0;
  // The caller that applies the update chooses it.
  double learning_rate = 0;
  Accumulation accumulation = {};

  // The number of this update, from 1.
  double t() const { return static_cast<double>(iterations) + 1; }
};

// Immutable after construction, and thread-safe: all state is in the ranges.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Keras' class name, such as "Adam".
  virtual absl::string_view class_name() const = 0;

  // Names of the slots, such as {"momentum", "velocity", "average"}; a variable
  // has one of each: those of the formulas, then with accumulation
  // kAccumulatorSlot, and then with use_ema kAverageSlot. Slots are initially
  // zero unless slot_initial_value says otherwise.
  std::vector<std::string> slot_names() const;
  virtual std::vector<std::string> formula_slot_names() const = 0;
  virtual double slot_initial_value(int /*slot*/) const { return 0; }

  // The place of the accumulators among all slots, of which there are so many;
  // only if accumulates().
  size_t AccumulatorSlotOf(size_t slot_count) const {
    return slot_count - (use_ema ? 2 : 1);
  }

  // How Keras' files order slots: the averages of all variables come first,
  // then their accumulators. Then the first `paired_slot_count` ones of the
  // formulas lie together, variable by variable; behind them comes each further
  // slot, of all variables.
  virtual int paired_slot_count() const {
    return static_cast<int>(formula_slot_names().size());
  }

  // Numbers that Keras keeps behind all slots, after so many updates. Ours
  // follow from that count.
  virtual std::vector<double> NumbersAfter(int64_t /*updates*/) const {
    return {};
  }

  // How many of the formulas' slots an update of this variable uses.
  int SlotCountOf(const UpdatedVariable& variable) const;

  // The formula that updates a variable. It uses the first of the formulas'
  // slots, or all.
  virtual AnyFormula FormulaFor(const UpdatedVariable& variable) const = 0;

  // Whether the update of a variable depends on its name, its shape, or all its
  // elements. If true, each range of Apply must name its variable. If false,
  // FormulaFor and WeightDecayOf ignore their argument, and a range may span
  // several variables.
  virtual bool updates_by_variable() const {
    return !exclude_from_weight_decay.parts.empty() || !constraints.empty() ||
           !without_loss.empty();
  }

  // Whether an update changes this variable; otherwise it only averages it.
  bool Changes(const UpdatedVariable& variable) const {
    return !without_loss.contains(variable.name);
  }

  // The weight decay of this variable (weight_decay.h); 0: none.
  double WeightDecayOf(const UpdatedVariable& variable) const;

  // The constraint of this variable; null: none.
  const Constraint* ConstraintOf(const UpdatedVariable& variable) const;

  // Whether an update of this variable needs all its elements at once, as
  // formulas with norms and for matrices do, and constraints with norms.
  bool NeedsWhole(const UpdatedVariable& variable) const;

  // Number of multiplications in the matrix products of an update of this
  // variable; 0 if there are none.
  double MultiplicationsOf(const UpdatedVariable& variable) const;

  // The scalars of a step; by default the learning rate.
  virtual StepScalars ScalarsOf(const UpdateStep& step) const {
    return {{step.learning_rate}};
  }

  // How a step averages the variables; for use_ema.
  Averaging AveragingOf(const UpdateStep& step) const;

  // How many calls make an update (gradient_accumulation.h), at least 1; and
  // whether it is more than one.
  int64_t calls_per_update() const {
    return std::max<int64_t>(1, gradient_accumulation_steps.value_or(0));
  }
  bool accumulates() const { return calls_per_update() > 1; }
  // How many updates the first `calls` calls of a model make.
  int64_t UpdatesAfter(int64_t calls) const {
    return calls / calls_per_update();
  }

  // Call number `iterations` + 1 of the job, with the given learning rate or,
  // if that is nullopt, the rate of the job's optimizer. As in Keras, schedules
  // count calls, and all else counts updates.
  UpdateStep StepAfter(int64_t iterations,
                       std::optional<double> given_rate) const;
  UpdateStep StepAfter(int64_t iterations) const {
    return StepAfter(iterations, /*given_rate=*/std::nullopt);
  }

  // Before gradients are clipped and applied: adds them to the accumulators
  // and, if the step updates, makes them the mean. Otherwise they are undefined
  // afterwards, and Apply ignores them. No effect unless accumulates(). `slots`
  // are those of Apply. On the CPU.
  void Accumulate(const UpdateStep& step, absl::Span<float> gradients,
                  absl::Span<const absl::Span<float>> slots) const;
  void Accumulate(const UpdateStep& step, absl::Span<double> gradients,
                  absl::Span<const absl::Span<double>> slots) const;

  // Applies an update on the CPU: the formula if the step updates, the average,
  // and then the variable's constraint. Allocates only for formulas for
  // matrices, and for the norms of constraints.
  void Apply(const UpdateStep& step, const UpdateRange<float>& range) const;
  void Apply(const UpdateStep& step, const UpdateRange<double>& range) const;

  std::string name;
  // Calls made before the job, for a model that it goes on with.
  int64_t initial_iterations = 0;
  LearningRate learning_rate;
  std::optional<double> weight_decay;
  // As by Keras' exclude_from_weight_decay(var_names): looks at a variable's
  // own name, such as "bias", without that of its layer.
  NameParts exclude_from_weight_decay;
  // How the caller must clip the gradients before an update. Clipping by norms
  // needs the gradients of all variables, not only those of a range.
  Clipping clipping;
  // Whether updates average the variables (moving_average.h).
  bool use_ema = false;
  double ema_momentum = 0.99;
  // Null and 0: the variables never take their averages.
  std::optional<int64_t> ema_overwrite_frequency;
  // Null and 0: each call is an update. Else at least 2.
  std::optional<int64_t> gradient_accumulation_steps;
  // Of the LossScaleOptimizer around it; null: there is none.
  std::optional<LossScaling> loss_scaling;
  // By name of a variable: what its updates end with. Not of Keras' config of
  // an optimizer: in Keras they belong to the variables.
  std::map<std::string, Constraint, std::less<>> constraints;
  // Names of variables that updates leave as they are, with all slots but the
  // average, also where the update of a gradient of 0 would change them
  // (loss_paths.h).
  std::set<std::string, std::less<>> without_loss;

 protected:
  // Keras' defaults for the class.
  Optimizer(std::string name, double learning_rate)
      : name(std::move(name)), learning_rate{learning_rate} {}

 private:
  // The weight decay of a variable that is not excluded.
  virtual std::optional<double> DecayOf(
      const UpdatedVariable& /*variable*/) const {
    return weight_decay;
  }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_OPTIMIZER_H_
