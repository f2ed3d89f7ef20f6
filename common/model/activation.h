// Keras' activation functions by name. Devices compute them.
#ifndef PACELINE_COMMON_MODEL_ACTIVATION_H_
#define PACELINE_COMMON_MODEL_ACTIVATION_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace paceline {

template <typename E>
struct EnumName;

// Softmax and log-softmax work along the last axis, all others elementwise. The
// formulas are in activation_operations.h.
enum class ActivationFunction {
  kLinear,
  kRelu,
  kRelu6,
  kLeakyRelu,  // Slope 0.2 below 0.
  kElu,        // alpha 1.
  kCelu,       // alpha 1.
  kSelu,
  kSigmoid,
  kHardSigmoid,  // relu6(x + 3) / 6.
  kLogSigmoid,
  kTanh,
  kHardTanh,
  kTanhShrink,
  kHardShrink,  // Threshold 0.5.
  kSoftShrink,  // Threshold 0.5.
  kSoftplus,
  kSoftsign,
  kSilu,
  kHardSilu,
  kGelu,  // Exact: by erf.
  kMish,
  kExponential,
  kSquareplus,  // b 4.
  kSparsePlus,
  kSparseSigmoid,
  kSoftmax,
  kLogSoftmax,
};

// Whether an output element depends on its whole row.
inline bool IsRowwise(ActivationFunction function) {
  return function == ActivationFunction::kSoftmax ||
         function == ActivationFunction::kLogSoftmax;
}

// Names in a config; see codec.h. "swish" is an alias of "silu".
absl::Span<const EnumName<ActivationFunction>> EnumNames(ActivationFunction);

// Keras' name, such as "relu".
absl::string_view ActivationFunctionName(ActivationFunction function);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_ACTIVATION_H_
