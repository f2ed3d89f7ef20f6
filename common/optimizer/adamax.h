// Adamax (Kingma and Ba, 2015, section 7.1), as keras.optimizers.Adamax
// computes it:
//
//   t = iterations + 1
//   m += (g - m) · (1 - beta_1)
//   u = max(beta_2 · u, |g|)
//   w -= lr / (1 - beta_1^t) · m / (u + epsilon)
#ifndef PACELINE_COMMON_OPTIMIZER_ADAMAX_H_
#define PACELINE_COMMON_OPTIMIZER_ADAMAX_H_

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

// Step scalars: lr / (1 - beta_1^t). Slots: m, u.
struct AdamaxFormula {
  static constexpr int kSlotCount = 2;

  double one_minus_beta_1 = 0;
  double beta_2 = 0;
  double epsilon = 0;

  template <typename T>
  [[gnu::always_inline]] PACELINE_HOST_DEVICE void operator()(
      const StepScalars& step, T g, T& w, T* slots) const {
    T& m = slots[0];
    T& u = slots[1];
    m += (g - m) * static_cast<T>(one_minus_beta_1);
    const T decayed = static_cast<T>(beta_2) * u;
    const T size = std::abs(g);
    // The larger one, or NaN if either is.
    u = decayed > size || decayed != decayed ? decayed : size;
    w -= static_cast<T>(step[0]) * m / (u + static_cast<T>(epsilon));
  }
};

class Adamax final : public Optimizer {
 public:
  static constexpr char kClassName[] = "Adamax";
  using Formula = std::variant<AdamaxFormula>;
  static const FieldTable<Adamax>& Fields();

  Adamax() : Optimizer("adamax", 0.001) {}

  absl::string_view class_name() const override { return kClassName; }
  std::vector<std::string> formula_slot_names() const override;
  AnyFormula FormulaFor(const UpdatedVariable& variable) const override;
  StepScalars ScalarsOf(const UpdateStep& step) const override;

  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_ADAMAX_H_
