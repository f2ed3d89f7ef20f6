// FTRL-Proximal (McMahan et al., "Ad Click Prediction", 2013), as
// keras.optimizers.Ftrl computes it. With p = -learning_rate_power:
//
//   b = a + g²
//   z += g + 2 · l2_shrinkage · w - (b^p - a^p) / lr · w
//   w = (clip(z, -l1, l1) - z) / (b^p / lr + 2 · (l2 + beta / (2 · lr)))
//   a = b
#ifndef PACELINE_COMMON_OPTIMIZER_FTRL_H_
#define PACELINE_COMMON_OPTIMIZER_FTRL_H_

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

// Step scalars: lr. Slots: a, z. With `kIsRoot` p is 1/2, the default.
template <bool kIsRoot>
struct FtrlFormula {
  static constexpr int kSlotCount = 2;

  double power = 0;
  double l1 = 0;
  double l2 = 0;
  double l2_shrinkage = 0;
  double beta = 0;

  template <typename T>
  [[gnu::always_inline]] PACELINE_HOST_DEVICE T Power(T a) const {
    if constexpr (kIsRoot) return std::sqrt(a);
    return std::pow(a, static_cast<T>(power));
  }

  template <typename T>
  [[gnu::always_inline]] PACELINE_HOST_DEVICE void operator()(
      const StepScalars& step, T g, T& w, T* slots) const {
    T& a = slots[0];
    T& z = slots[1];
    const T lr = static_cast<T>(step[0]);
    const T bound = static_cast<T>(l1);
    const T b = a + g * g;
    z += g + static_cast<T>(2 * l2_shrinkage) * w -
         (Power(b) - Power(a)) / lr * w;
    const T clipped = z > bound ? bound : z < -bound ? -bound : z;
    w = (clipped - z) /
        (Power(b) / lr + static_cast<T>(2 * l2) + static_cast<T>(beta) / lr);
    a = b;
  }
};

class Ftrl final : public Optimizer {
 public:
  static constexpr char kClassName[] = "Ftrl";
  using Formula = std::variant<FtrlFormula<false>, FtrlFormula<true>>;
  static const FieldTable<Ftrl>& Fields();

  Ftrl() : Optimizer("ftrl", 0.001) {}

  absl::string_view class_name() const override { return kClassName; }
  std::vector<std::string> formula_slot_names() const override;
  double slot_initial_value(int slot) const override {
    return slot == 0 ? initial_accumulator_value : 0;
  }
  AnyFormula FormulaFor(const UpdatedVariable& variable) const override;

  double learning_rate_power = -0.5;
  double initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0;
  double l2_regularization_strength = 0;
  double l2_shrinkage_regularization_strength = 0;
  double beta = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_FTRL_H_
