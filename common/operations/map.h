// Elementwise functions of one input.
#ifndef PACELINE_COMMON_OPERATIONS_MAP_H_
#define PACELINE_COMMON_OPERATIONS_MAP_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// NaN gives NaN in all functions. Activation functions consist of these. Relu
// is one of them, since its derivative at 0 is 0, unlike Maximum's.
enum class MapFunction {
  kAbs,    // Derivative 0 at 0, as in TensorFlow.
  kSign,   // -1, 0 or 1; no gradient passes.
  kFloor,  // No gradient passes.
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kSqrt,
  kTanh,
  kSigmoid,
  kSoftplus,  // log(1 + exp x).
  kErfc,
  kRelu,  // max(x, 0).
};

// "Tanh".
absl::string_view MapFunctionName(MapFunction function);

class MapOperation final : public Operation {
 public:
  static constexpr char kName[] = "Map";

  explicit MapOperation(MapFunction function) : function_(function) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  MapFunction function() const { return function_; }

 private:
  MapFunction function_;
};

Tensor Map(MapFunction function, const Tensor& x);

inline Tensor Abs(const Tensor& x) { return Map(MapFunction::kAbs, x); }
inline Tensor Sign(const Tensor& x) { return Map(MapFunction::kSign, x); }
inline Tensor Floor(const Tensor& x) { return Map(MapFunction::kFloor, x); }
inline Tensor Exp(const Tensor& x) { return Map(MapFunction::kExp, x); }
inline Tensor Expm1(const Tensor& x) { return Map(MapFunction::kExpm1, x); }
inline Tensor Log(const Tensor& x) { return Map(MapFunction::kLog, x); }
inline Tensor Log1p(const Tensor& x) { return Map(MapFunction::kLog1p, x); }
inline Tensor Sqrt(const Tensor& x) { return Map(MapFunction::kSqrt, x); }
inline Tensor Tanh(const Tensor& x) { return Map(MapFunction::kTanh, x); }
inline Tensor Sigmoid(const Tensor& x) { return Map(MapFunction::kSigmoid, x); }
inline Tensor Softplus(const Tensor& x) {
  return Map(MapFunction::kSoftplus, x);
}
inline Tensor Erfc(const Tensor& x) { return Map(MapFunction::kErfc, x); }
inline Tensor Relu(const Tensor& x) { return Map(MapFunction::kRelu, x); }

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_MAP_H_
