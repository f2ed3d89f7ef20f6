// Elementwise functions of two inputs, with broadcasting.
#ifndef PACELINE_COMMON_OPERATIONS_BINARY_MAP_H_
#define PACELINE_COMMON_OPERATIONS_BINARY_MAP_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/constant.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// The inputs are numbers of one type. NaN in either input gives NaN.
enum class BinaryFunction {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,   // Of integers: rounded towards 0.
  kPower,    // Of reals.
  kMaximum,  // Equal ones: the gradient goes to the first.
  kMinimum,  // The same.
};

// "Add".
absl::string_view BinaryFunctionName(BinaryFunction function);

class BinaryMapOperation final : public Operation {
 public:
  static constexpr char kName[] = "BinaryMap";

  explicit BinaryMapOperation(BinaryFunction function) : function_(function) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  // The gradient of a broadcast input is summed over the axes along which it
  // was broadcast.
  Gradients AddGradient(const CallGradient& call) const override;

  BinaryFunction function() const { return function_; }

 private:
  BinaryFunction function_;
};

Tensor BinaryMap(BinaryFunction function, const Tensor& a, const Tensor& b);

inline Tensor Power(const Tensor& a, const Tensor& b) {
  return BinaryMap(BinaryFunction::kPower, a, b);
}
inline Tensor Maximum(const Tensor& a, const Tensor& b) {
  return BinaryMap(BinaryFunction::kMaximum, a, b);
}
inline Tensor Minimum(const Tensor& a, const Tensor& b) {
  return BinaryMap(BinaryFunction::kMinimum, a, b);
}
inline Tensor Maximum(const Tensor& a, double b) {
  return Maximum(a, ConstantLike(a, b));
}
inline Tensor Minimum(const Tensor& a, double b) {
  return Minimum(a, ConstantLike(a, b));
}

inline Tensor Clip(const Tensor& x, double low, double high) {
  return Minimum(Maximum(x, low), high);
}

inline Tensor operator+(const Tensor& a, const Tensor& b) {
  return BinaryMap(BinaryFunction::kAdd, a, b);
}
inline Tensor operator-(const Tensor& a, const Tensor& b) {
  return BinaryMap(BinaryFunction::kSubtract, a, b);
}
inline Tensor operator*(const Tensor& a, const Tensor& b) {
  return BinaryMap(BinaryFunction::kMultiply, a, b);
}
inline Tensor operator/(const Tensor& a, const Tensor& b) {
  return BinaryMap(BinaryFunction::kDivide, a, b);
}

inline Tensor operator+(const Tensor& a, double b) {
  return a + ConstantLike(a, b);
}
inline Tensor operator-(const Tensor& a, double b) {
  return a - ConstantLike(a, b);
}
inline Tensor operator-(double a, const Tensor& b) {
  return ConstantLike(b, a) - b;
}
inline Tensor operator*(const Tensor& a, double b) {
  return a * ConstantLike(a, b);
}
inline Tensor operator/(const Tensor& a, double b) {
  return a / ConstantLike(a, b);
}
inline Tensor operator/(double a, const Tensor& b) {
  return ConstantLike(b, a) / b;
}
inline Tensor operator-(const Tensor& a) { return a * -1; }

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_BINARY_MAP_H_
