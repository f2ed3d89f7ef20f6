// An optimizer: Keras' configuration, and the formula of its updates.
//
// An optimizer is one file in common/optimizer: a class whose public members
// are Keras' config keys, its field table, its slots, and its formulas
// (formula.h), of which the config chooses one. optimizers.h lists all. The
// CPU runs all formulas by the same loops (Apply), CUDA by the same kernels.
#ifndef PACELINE_COMMON_OPTIMIZER_OPTIMIZER_H_
#define PACELINE_COMMON_OPTIMIZER_OPTIMIZER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/optimizer/clipping.h"
#include "common/optimizer/formula.h"
#include "common/optimizer/learning_rate.h"
#include "common/optimizer/update_range.h"

namespace paceline {

// One of the formulas of all optimizers (optimizers.h).
struct AnyFormula;

// Which update it is.
struct UpdateStep {
  // How many updates came before.
  int64_t iterations = 0;
  // Whoever applies the update decides it.
  double learning_rate = 0;
};

// Immutable once made, and thread-safe: all state is in the ranges.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Keras' class name, such as "Adam".
  virtual absl::string_view class_name() const = 0;

  // Names of the slots beside each variable, such as {"momentum", "velocity"}.
  // Slots start as zeros unless slot_initial_value says otherwise.
  virtual std::vector<std::string> slot_names() const = 0;
  virtual double slot_initial_value(int /*slot*/) const { return 0; }

  // The formula that updates a variable. It uses all slots, or the first ones.
  virtual AnyFormula FormulaFor(const UpdatedVariable& variable) const = 0;

  // Whether the update of a variable depends on its name or shape, or on all of
  // its elements. Then each range of Apply names the one variable that it
  // belongs to. Otherwise FormulaFor ignores the variable, and a range may span
  // several.
  virtual bool updates_by_variable() const { return false; }

  // Whether an update of this variable needs all its elements at once, as
  // formulas with norms and of matrices do.
  bool NeedsWhole(const UpdatedVariable& variable) const;

  // How many multiplications the products of matrices in an update of this
  // variable take; 0 without such products.
  double MultiplicationsOf(const UpdatedVariable& variable) const;

  // What the formula takes of a step: the learning rate, unless it says
  // otherwise.
  virtual StepScalars ScalarsOf(const UpdateStep& step) const {
    return {{step.learning_rate}};
  }

  // The update after `iterations` others, at the learning rate of the job.
  UpdateStep StepAfter(int64_t iterations) const {
    return {iterations, learning_rate.At(iterations)};
  }

  // Applies an update on the CPU. Allocates only for formulas of matrices.
  void Apply(const UpdateStep& step, const UpdateRange<float>& range) const;
  void Apply(const UpdateStep& step, const UpdateRange<double>& range) const;

  std::string name;
  LearningRate learning_rate;
  // What whoever applies an update does to its gradients before. With norms,
  // the gradients of all variables are needed for it, not those of a range.
  Clipping clipping;

 protected:
  // Keras' defaults for the class.
  Optimizer(std::string name, double learning_rate)
      : name(std::move(name)), learning_rate{learning_rate} {}
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_OPTIMIZER_H_
