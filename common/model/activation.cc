#include "common/model/activation.h"

#include "common/config/codec.h"
#include "glog/logging.h"

namespace paceline {

absl::Span<const EnumName<ActivationFunction>> EnumNames(ActivationFunction) {
  using enum ActivationFunction;
  static constexpr EnumName<ActivationFunction> kNames[] = {
      {kLinear, "linear"},
      {kRelu, "relu"},
      {kRelu6, "relu6"},
      {kLeakyRelu, "leaky_relu"},
      {kElu, "elu"},
      {kCelu, "celu"},
      {kSelu, "selu"},
      {kSigmoid, "sigmoid"},
      {kHardSigmoid, "hard_sigmoid"},
      {kLogSigmoid, "log_sigmoid"},
      {kTanh, "tanh"},
      {kHardTanh, "hard_tanh"},
      {kTanhShrink, "tanh_shrink"},
      {kHardShrink, "hard_shrink"},
      {kSoftShrink, "soft_shrink"},
      {kSoftplus, "softplus"},
      {kSoftsign, "softsign"},
      {kSilu, "silu"},
      {kSilu, "swish"},
      {kHardSilu, "hard_silu"},
      {kHardSilu, "hard_swish"},
      {kGelu, "gelu"},
      {kMish, "mish"},
      {kExponential, "exponential"},
      {kSquareplus, "squareplus"},
      {kSparsePlus, "sparse_plus"},
      {kSparseSigmoid, "sparse_sigmoid"},
      {kSoftmax, "softmax"},
      {kLogSoftmax, "log_softmax"},
  };
  return kNames;
}

absl::string_view ActivationFunctionName(ActivationFunction function) {
  for (const EnumName<ActivationFunction>& each : EnumNames(function)) {
    if (each.value == function) return each.name;
  }
  LOG(FATAL) << "no name for activation " << static_cast<int>(function);
}

}  // namespace paceline
