// The formula of an optimizer: how a step changes one element of a variable
// and of its slots, whatever the device. A trivially copyable struct
//
//   struct MomentumFormula {
//     static constexpr int kSlotCount = 1;
//     double momentum = 0;
//
//     template <typename T>
//     [[gnu::always_inline]] PACELINE_HOST_DEVICE void operator()(
//         const StepScalars& step, T g, T& w, T* slots) const {
//       T& m = slots[0];
//       m = static_cast<T>(momentum) * m - static_cast<T>(step[0]) * g;
//       w += m;
//     }
//   };
//
// T is float or double. `g` is the gradient, clipped; `w` the variable's
// element; `slots` has one element of each slot, in the order of
// Optimizer::slot_names. What no step changes is a member. Always inlined: the
// CPU's loop (apply_formula.h) becomes vector code, and CUDA's kernel
// (worker/device/cuda/kernels/update_variables.h) keeps elements in registers.
// So a choice among formulas is a template parameter, not a branch.
//
// A formula with norms, such as LambFormula, scales the update of a variable by
// a trust ratio, which follows from two norms: that of the variable and that of
// the direction in which it moves. In place of the call operator it has three
// functions, marked alike:
//
//   // First pass: the new slots of an element, and its direction by them.
//   template <typename T>
//   void UpdateSlots(const StepScalars& step, T g, T* slots) const;
//   template <typename T>
//   T Direction(const StepScalars& step, const T* slots) const;
//   // Second pass: w -= step[0] · TrustRatio(‖w‖, ‖direction‖) · direction.
//   double TrustRatio(double norm, double direction_norm) const;
//
// A formula of matrices, such as MuonFormula, moves a matrix along the
// orthogonal factor of a direction (newton_schulz.h). It holds the sizes of the
// matrix, which lies in C order, and the iteration, and has two functions:
//
//   int64_t rows = 0;
//   int64_t columns = 0;
//   NewtonSchulz iteration;
//
//   // First pass: updates the slots of an element and returns its direction.
//   template <typename T>
//   T UpdateSlots(const StepScalars& step, T g, T* slots) const;
//   // Last pass: moves the element by that of the orthogonal factor.
//   template <typename T>
//   void Move(const StepScalars& step, T factor, T& w) const;
//
// Formulas of both kinds need whole variables, so parameter servers do not cut
// these (docs/design/optimizers.md).
#ifndef PACELINE_COMMON_OPTIMIZER_FORMULA_H_
#define PACELINE_COMMON_OPTIMIZER_FORMULA_H_

#include "common/base/host_device.h"

namespace paceline {

// What changes a formula from step to step, such as the learning rate. Each
// formula says which scalar is where. The number is the same for all, so that
// a step of any optimizer lies in device memory in the same way.
struct StepScalars {
  PACELINE_HOST_DEVICE double operator[](int i) const { return values[i]; }

  double values[4] = {};
};

// Whether a formula has norms.
template <typename Formula>
concept HasNorms = requires(const Formula& formula) {
  formula.TrustRatio(0.0, 0.0);
};

// Whether a formula is one of matrices.
template <typename Formula>
concept UpdatesMatrices = requires(const Formula& formula) {
  formula.rows;
  formula.columns;
  formula.iteration;
};

template <typename Formula>
concept UpdatesWholeVariables = HasNorms<Formula> || UpdatesMatrices<Formula>;

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_FORMULA_H_
