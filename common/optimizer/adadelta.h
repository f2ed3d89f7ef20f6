// Adadelta (Zeiler, 2012), as keras.optimizers.Adadelta computes it:
//
//   a = rho · a + (1 - rho) · g²
//   u = g · sqrt(d + epsilon) / sqrt(a + epsilon)
//   d = rho · d + (1 - rho) · u²
//   w -= lr · u
#ifndef PACELINE_COMMON_OPTIMIZER_ADADELTA_H_
#define PACELINE_COMMON_OPTIMIZER_ADADELTA_H_

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

// Step scalars: lr. Slots: a, d.
struct AdadeltaFormula {
  static constexpr int kSlotCount = 2;

  double rho = 0;
  double epsilon = 0;

  template <typename T>
  [[gnu::always_inline]] PACELINE_HOST_DEVICE void operator()(
      const StepScalars& step, T g, T& w, T* slots) const {
    const T decay = static_cast<T>(rho);
    const T rest = static_cast<T>(1 - rho);
    const T small = static_cast<T>(epsilon);
    T& a = slots[0];
    T& d = slots[1];
    a = decay * a + rest * (g * g);
    const T u = g * std::sqrt(d + small) / std::sqrt(a + small);
    d = decay * d + rest * (u * u);
    w -= static_cast<T>(step[0]) * u;
  }
};

class Adadelta final : public Optimizer {
 public:
  static constexpr char kClassName[] = "Adadelta";
  using Formula = std::variant<AdadeltaFormula>;
  static const FieldTable<Adadelta>& Fields();

  Adadelta() : Optimizer("adadelta", 0.001) {}

  absl::string_view class_name() const override { return kClassName; }
  std::vector<std::string> formula_slot_names() const override;
  AnyFormula FormulaFor(const UpdatedVariable& variable) const override;

  double rho = 0.95;
  double epsilon = 1e-7;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_ADADELTA_H_
