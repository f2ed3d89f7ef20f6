// Stochastic gradient descent, as keras.optimizers.SGD computes it:
//
//   without momentum   w -= lr · g
//   with momentum      m = momentum · m - lr · g;  w += m
//   with nesterov      m = momentum · m - lr · g;  w += momentum · m - lr · g
#ifndef PACELINE_COMMON_OPTIMIZER_SGD_H_
#define PACELINE_COMMON_OPTIMIZER_SGD_H_

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

// Step scalars: lr.
struct SgdFormula {
  static constexpr int kSlotCount = 0;

  template <typename T>
  [[gnu::always_inline]] PACELINE_HOST_DEVICE void operator()(
      const StepScalars& step, T g, T& w, T* /*slots*/) const {
    w -= static_cast<T>(step[0]) * g;
  }
};

// Step scalars: lr. Slot: m.
template <bool kNesterov>
struct MomentumFormula {
  static constexpr int kSlotCount = 1;

  double momentum = 0;

  template <typename T>
  [[gnu::always_inline]] PACELINE_HOST_DEVICE void operator()(
      const StepScalars& step, T g, T& w, T* slots) const {
    T& m = slots[0];
    const T change = static_cast<T>(step[0]) * g;
    m = static_cast<T>(momentum) * m - change;
    w += kNesterov ? static_cast<T>(momentum) * m - change : m;
  }
};

class Sgd final : public Optimizer {
 public:
  static constexpr char kClassName[] = "SGD";
  using Formula =
      std::variant<SgdFormula, MomentumFormula<false>, MomentumFormula<true>>;
  static const FieldTable<Sgd>& Fields();

  Sgd() : Optimizer("sgd", 0.01) {}

  absl::string_view class_name() const override { return kClassName; }
  // {"momentum"}, or none without momentum.
  std::vector<std::string> formula_slot_names() const override;
  AnyFormula FormulaFor(const UpdatedVariable& variable) const override;

  double momentum = 0;
  bool nesterov = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_SGD_H_
