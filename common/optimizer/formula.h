// The formula of an optimizer: how a step updates one element of a variable and
// of its slots. The same code runs on every device. It is a trivially copyable
// struct:
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
// element, decayed (weight_decay.h); `slots` has one element of each slot, in
// the order of Optimizer::formula_slot_names. Members are constant over all
// steps. Always inlined, so that the CPU's loop (apply_formula.h) is
// vectorised, and CUDA's kernel (worker/device/cuda/kernels/update_variables.h)
// keeps elements in registers. For the same reason variants of a formula are
// template parameters, not branches.
//
// A formula with norms, such as LambFormula, scales the update of a variable by
// a trust ratio, which depends on two norms: that of the variable and that of
// its direction. Instead of the call operator it has three functions, with the
// same attributes:
//
//   // First pass: the new slots of an element, and its direction by them.
//   template <typename T>
//   void UpdateSlots(const StepScalars& step, T g, T* slots) const;
//   template <typename T>
//   T Direction(const StepScalars& step, const T* slots) const;
//   // Second pass: w -= step[0] · TrustRatio(‖w‖, ‖direction‖) · direction.
//   double TrustRatio(double norm, double direction_norm) const;
//
// A formula for matrices, such as MuonFormula, moves a matrix along the
// orthogonal factor of a direction (newton_schulz.h). Its members are the sizes
// of the matrix, which is in C order, and the iteration; it has two functions:
//
//   int64_t rows = 0;
//   int64_t columns = 0;
//   NewtonSchulz iteration;
//
//   // First pass: updates the slots of an element and returns its direction.
//   template <typename T>
//   T UpdateSlots(const StepScalars& step, T g, T* slots) const;
//   // Last pass: moves the element by the same element of the orthogonal
//   // factor.
//   template <typename T>
//   void Move(const StepScalars& step, T factor, T& w) const;
//
// Both kinds of formulas need whole variables, so parameter servers do not cut
// such variables (docs/design/optimizers.md).
#ifndef PACELINE_COMMON_OPTIMIZER_FORMULA_H_
#define PACELINE_COMMON_OPTIMIZER_FORMULA_H_

#include "common/base/host_device.h"

namespace paceline {

// Scalars that change from step to step, such as the learning rate. Each
// formula defines their meaning. Their number is the same for all formulas, so
// that a step of any optimizer has the same layout in device memory.
struct StepScalars {
  PACELINE_HOST_DEVICE double operator[](int i) const { return values[i]; }

  double values[4] = {};
};

// Whether a formula has norms.
template <typename Formula>
concept HasNorms = requires(const Formula& formula) {
  formula.TrustRatio(0.0, 0.0);
};

// Whether a formula is for matrices.
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
