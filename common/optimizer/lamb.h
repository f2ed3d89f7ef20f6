// LAMB (You et al., 2020), as keras.optimizers.Lamb computes it:
//
//   t = iterations + 1
//   m += (g - m) · (1 - beta_1)
//   v += (g² - v) · (1 - beta_2)
//   r = m / (1 - beta_1^t) / (sqrt(v / (1 - beta_2^t)) + epsilon)
//   w -= lr · ‖w‖ / ‖r‖ · r
//
// The norms are those of a variable. Where one is 0, their ratio counts as 1.
#ifndef PACELINE_COMMON_OPTIMIZER_LAMB_H_
#define PACELINE_COMMON_OPTIMIZER_LAMB_H_

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

// Step scalars: lr, 1 - beta_1^t and 1 - beta_2^t. Slots: m and v.
struct LambFormula {
  static constexpr int kSlotCount = 2;

  double one_minus_beta_1 = 0;
  double one_minus_beta_2 = 0;
  double epsilon = 0;

  template <typename T>
  [[gnu::always_inline]] PACELINE_HOST_DEVICE void UpdateSlots(
      const StepScalars& /*step*/, T g, T* slots) const {
    slots[0] += (g - slots[0]) * static_cast<T>(one_minus_beta_1);
    slots[1] += (g * g - slots[1]) * static_cast<T>(one_minus_beta_2);
  }

  template <typename T>
  [[gnu::always_inline]] PACELINE_HOST_DEVICE T
  Direction(const StepScalars& step, const T* slots) const {
    return slots[0] / static_cast<T>(step[1]) /
           (std::sqrt(slots[1] / static_cast<T>(step[2])) +
            static_cast<T>(epsilon));
  }

  PACELINE_HOST_DEVICE double TrustRatio(double norm,
                                         double direction_norm) const {
    return norm > 0 && direction_norm > 0 ? norm / direction_norm : 1;
  }
};

class Lamb final : public Optimizer {
 public:
  static constexpr char kClassName[] = "Lamb";
  using Formula = std::variant<LambFormula>;
  static const FieldTable<Lamb>& Fields();

  Lamb() : Optimizer("lamb", 0.001) {}

  absl::string_view class_name() const override { return kClassName; }
  std::vector<std::string> formula_slot_names() const override;
  bool updates_by_variable() const override { return true; }
  AnyFormula FormulaFor(const UpdatedVariable& variable) const override;
  StepScalars ScalarsOf(const UpdateStep& step) const override;

  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_LAMB_H_
