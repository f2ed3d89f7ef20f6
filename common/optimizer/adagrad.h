// Adagrad (Duchi, Hazan and Singer, 2011), as keras.optimizers.Adagrad computes
// it:
//
//   a += g²
//   w -= lr · g / sqrt(a + epsilon)
#ifndef PACELINE_COMMON_OPTIMIZER_ADAGRAD_H_
#define PACELINE_COMMON_OPTIMIZER_ADAGRAD_H_

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

// Step scalars: lr. Slots: a.
struct AdagradFormula {
  static constexpr int kSlotCount = 1;

  double epsilon = 0;

  template <typename T>
  [[gnu::always_inline]] PACELINE_HOST_DEVICE void operator()(
      const StepScalars& step, T g, T& w, T* slots) const {
    T& a = slots[0];
    a += g * g;
    w -= static_cast<T>(step[0]) * g / std::sqrt(a + static_cast<T>(epsilon));
  }
};

class Adagrad final : public Optimizer {
 public:
  static constexpr char kClassName[] = "Adagrad";
  using Formula = std::variant<AdagradFormula>;
  static const FieldTable<Adagrad>& Fields();

  Adagrad() : Optimizer("adagrad", 0.001) {}

  absl::string_view class_name() const override { return kClassName; }
  std::vector<std::string> formula_slot_names() const override;
  double slot_initial_value(int slot) const override {
    return slot == 0 ? initial_accumulator_value : 0;
  }
  AnyFormula FormulaFor(const UpdatedVariable& variable) const override;

  double initial_accumulator_value = 0.1;
  double epsilon = 1e-7;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_ADAGRAD_H_
