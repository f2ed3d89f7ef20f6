// Adam (Kingma and Ba, 2015), as keras.optimizers.Adam computes it:
//
//   t = iterations + 1
//   a = lr · sqrt(1 - beta_2^t) / (1 - beta_1^t)
//   m += (g - m) · (1 - beta_1)
//   v += (g² - v) · (1 - beta_2)
//   w -= a · m / (sqrt(v) + epsilon)
//
// With `amsgrad`, the largest v so far takes the place of v in the last line.
#ifndef PACELINE_COMMON_OPTIMIZER_ADAM_H_
#define PACELINE_COMMON_OPTIMIZER_ADAM_H_

#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/base/host_device.h"
#include "common/optimizer/formula.h"
#include "common/optimizer/optimizer.h"

namespace paceline {

template <typename T>
struct Field;
template <typename T>
class FieldTable;

// Step scalars: a. Slots: m, v and, with amsgrad, the largest v.
template <bool kAmsgrad>
struct AdamFormula {
  static constexpr int kSlotCount = kAmsgrad ? 3 : 2;

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
    T largest = v;
    if constexpr (kAmsgrad) {
      largest = v > slots[2] ? v : slots[2];
      slots[2] = largest;
    }
    w -= static_cast<T>(step[0]) * m /
         (std::sqrt(largest) + static_cast<T>(epsilon));
  }
};

// a, of which lr is that of `step`.
double AdamStepSize(const UpdateStep& step, double beta_1, double beta_2);

class Adam : public Optimizer {
 public:
  static constexpr char kClassName[] = "Adam";
  using Formula = std::variant<AdamFormula<false>, AdamFormula<true>>;
  static const FieldTable<Adam>& Fields();

  Adam() : Adam("adam") {}

  absl::string_view class_name() const override { return kClassName; }
  std::vector<std::string> formula_slot_names() const override;
  AnyFormula FormulaFor(const UpdatedVariable& variable) const override;
  StepScalars ScalarsOf(const UpdateStep& step) const override;
  int paired_slot_count() const override { return 2; }

  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;

 protected:
  explicit Adam(std::string name) : Optimizer(std::move(name), 0.001) {}

  // The config keys that only Adam and its subclasses have.
  static std::vector<Field<Adam>> OwnFields();
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_ADAM_H_
