// Nadam (Dozat, 2016), as keras.optimizers.Nadam computes it:
//
//   t = iterations + 1
//   u(t) = beta_1 · (1 - 0.96^t / 2)
//   p(t) = u(1) · … · u(t)
//   m += (g - m) · (1 - beta_1)
//   v += (g² - v) · (1 - beta_2)
//   n = u(t + 1) · m / (1 - p(t + 1)) + (1 - u(t)) · g / (1 - p(t))
//   w -= lr · n / (sqrt(v / (1 - beta_2^t)) + epsilon)
//
// Keras keeps p(t) as a variable; here it follows from t.
#ifndef PACELINE_COMMON_OPTIMIZER_NADAM_H_
#define PACELINE_COMMON_OPTIMIZER_NADAM_H_

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

// Step scalars: lr · u(t + 1) / (1 - p(t + 1)), lr · (1 - u(t)) / (1 - p(t)),
// and 1 - beta_2^t. Slots: m, v.
struct NadamFormula {
  static constexpr int kSlotCount = 2;

  double one_minus_beta_1 = 0;
  double one_minus_beta_2 = 0;
  double epsilon = 0;

  template <typename T>
  [[gnu::always_inline]] PACELINE_HOST_DEVICE void operator()(
      const StepScalars& step, T g, T& w, T* slots) const {
    T& m = slots[0];
    T& v = slots[1];
    m += (g - m) * static_cast<T>(one_minus_beta_1);
    v += (g * g - v) * static_cast<T>(one_minus_beta_2);
    w -= (static_cast<T>(step[0]) * m + static_cast<T>(step[1]) * g) /
         (std::sqrt(v / static_cast<T>(step[2])) + static_cast<T>(epsilon));
  }
};

class Nadam final : public Optimizer {
 public:
  static constexpr char kClassName[] = "Nadam";
  using Formula = std::variant<NadamFormula>;
  static const FieldTable<Nadam>& Fields();

  Nadam() : Optimizer("nadam", 0.001) {}

  absl::string_view class_name() const override { return kClassName; }
  std::vector<std::string> formula_slot_names() const override;
  AnyFormula FormulaFor(const UpdatedVariable& variable) const override;
  StepScalars ScalarsOf(const UpdateStep& step) const override;
  // The product of the momenta.
  std::vector<double> NumbersAfter(int64_t updates) const override;

  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_NADAM_H_
