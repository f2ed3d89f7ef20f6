// Lion (Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023), as
// keras.optimizers.Lion computes it:
//
//   w -= lr · sign(beta_1 · m + (1 - beta_1) · g)
//   m = beta_2 · m + (1 - beta_2) · g
#ifndef PACELINE_COMMON_OPTIMIZER_LION_H_
#define PACELINE_COMMON_OPTIMIZER_LION_H_

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

// Step scalars: lr. Slots: m.
struct LionFormula {
  static constexpr int kSlotCount = 1;

  double beta_1 = 0;
  double beta_2 = 0;

  template <typename T>
  [[gnu::always_inline]] PACELINE_HOST_DEVICE void operator()(
      const StepScalars& step, T g, T& w, T* slots) const {
    T& m = slots[0];
    const T u = static_cast<T>(beta_1) * m + static_cast<T>(1 - beta_1) * g;
    // Zero and NaN are their own signs.
    const T sign = u > 0 ? T{1} : u < 0 ? T{-1} : u;
    w -= static_cast<T>(step[0]) * sign;
    m = static_cast<T>(beta_2) * m + static_cast<T>(1 - beta_2) * g;
  }
};

class Lion final : public Optimizer {
 public:
  static constexpr char kClassName[] = "Lion";
  using Formula = std::variant<LionFormula>;
  static const FieldTable<Lion>& Fields();

  Lion() : Optimizer("lion", 0.001) {}

  absl::string_view class_name() const override { return kClassName; }
  std::vector<std::string> formula_slot_names() const override;
  AnyFormula FormulaFor(const UpdatedVariable& variable) const override;

  double beta_1 = 0.9;
  double beta_2 = 0.99;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_LION_H_
