// RMSprop (Hinton, Srivastava and Swersky, 2012), as keras.optimizers.RMSprop
// computes it:
//
//   v = rho · v + (1 - rho) · g²
//   w -= lr · g / sqrt(v + epsilon)
//
// With `centered`, the variance of the gradients takes the place of the mean of
// their squares:
//
//   a = rho · a + (1 - rho) · g
//   w -= lr · g / sqrt(v - a² + epsilon)
//
// With momentum, m = momentum · m + (what was subtracted) is subtracted.
#ifndef PACELINE_COMMON_OPTIMIZER_RMSPROP_H_
#define PACELINE_COMMON_OPTIMIZER_RMSPROP_H_

#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/base/host_device.h"
#include "common/optimizer/formula.h"
#include "common/optimizer/optimizer.h"

namespace paceline {

template <typename T>
class FieldTable;

// Step scalars: lr. Slots: v, then m with momentum, then a if centered.
template <bool kMomentum, bool kCentered>
struct RmsPropFormula {
  static constexpr int kSlotCount = 1 + kMomentum + kCentered;

  double rho = 0;
  double momentum = 0;
  double epsilon = 0;

  template <typename T>
  [[gnu::always_inline]] PACELINE_HOST_DEVICE void operator()(
      const StepScalars& step, T g, T& w, T* slots) const {
    const T decay = static_cast<T>(rho);
    const T rest = static_cast<T>(1 - rho);
    T& v = slots[0];
    v = decay * v + rest * (g * g);
    T variance = v;
    if constexpr (kCentered) {
      T& a = slots[1 + kMomentum];
      a = decay * a + rest * g;
      variance -= a * a;
    }
    T change = static_cast<T>(step[0]) * g /
               std::sqrt(variance + static_cast<T>(epsilon));
    if constexpr (kMomentum) {
      T& m = slots[1];
      m = static_cast<T>(momentum) * m + change;
      change = m;
    }
    w -= change;
  }
};

class RmsProp final : public Optimizer {
 public:
  static constexpr char kClassName[] = "RMSprop";
  using Formula =
      std::variant<RmsPropFormula<false, false>, RmsPropFormula<false, true>,
                   RmsPropFormula<true, false>, RmsPropFormula<true, true>>;
  static const FieldTable<RmsProp>& Fields();

  RmsProp() : Optimizer("rm_sprop", 0.001) {}

  absl::string_view class_name() const override { return kClassName; }
  std::vector<std::string> formula_slot_names() const override;
  AnyFormula FormulaFor(const UpdatedVariable& variable) const override;
  int paired_slot_count() const override { return 1; }

  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  bool centered = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_RMSPROP_H_
