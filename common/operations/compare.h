// Elementwise comparisons of two inputs, with broadcasting, to bool.
#ifndef PACELINE_COMMON_OPERATIONS_COMPARE_H_
#define PACELINE_COMMON_OPERATIONS_COMPARE_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/constant.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// False if either input is NaN.
enum class Comparison { kLess, kLessEqual, kEqual };

// The inputs are numbers of one type. No gradient passes.
class CompareOperation final : public Operation {
 public:
  static constexpr char kName[] = "Compare";

  explicit CompareOperation(Comparison comparison) : comparison_(comparison) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;

  Comparison comparison() const { return comparison_; }

 private:
  Comparison comparison_;
};

Tensor Compare(Comparison comparison, const Tensor& a, const Tensor& b);

inline Tensor Less(const Tensor& a, const Tensor& b) {
  return Compare(Comparison::kLess, a, b);
}
inline Tensor LessEqual(const Tensor& a, const Tensor& b) {
  return Compare(Comparison::kLessEqual, a, b);
}
inline Tensor Greater(const Tensor& a, const Tensor& b) { return Less(b, a); }
inline Tensor GreaterEqual(const Tensor& a, const Tensor& b) {
  return LessEqual(b, a);
}
inline Tensor Equal(const Tensor& a, const Tensor& b) {
  return Compare(Comparison::kEqual, a, b);
}

inline Tensor Less(const Tensor& a, double b) {
  return Less(a, ConstantLike(a, b));
}
inline Tensor LessEqual(const Tensor& a, double b) {
  return LessEqual(a, ConstantLike(a, b));
}
inline Tensor Greater(const Tensor& a, double b) {
  return Greater(a, ConstantLike(a, b));
}
inline Tensor GreaterEqual(const Tensor& a, double b) {
  return GreaterEqual(a, ConstantLike(a, b));
}
inline Tensor Equal(const Tensor& a, double b) {
  return Equal(a, ConstantLike(a, b));
}

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_COMPARE_H_
