#include "common/model/layers/softmax.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/select.h"
#include "common/operations/softmax.h"

namespace paceline {

namespace {

// As in Keras.
constexpr double kMaskedLogit = -1e9;

constexpr EnumName<Softmax::MaskInput> kSoftmaxMasks[] = {
    {Softmax::MaskInput::kMask, "mask"},
};

absl::Status CheckHasOneMask(const Softmax& layer, const Path& path) {
  if (layer.mask_inputs.size() <= 1) return absl::OkStatus();
  return ConfigError(path.Key("mask_inputs"), "expected \"mask\" at most once");
}

}  // namespace

absl::Span<const EnumName<Softmax::MaskInput>> EnumNames(Softmax::MaskInput) {
  return kSoftmaxMasks;
}

const FieldTable<Softmax>& Softmax::Fields() {
  static const auto& table = *new FieldTable<Softmax>(
      kClassName, "Softmax along an axis.",
      LayerFields<Softmax>(
          {Optional("axis", &Softmax::axis,
                    "Counts the batch as 0, or from the end."),
           NotWritten(Optional("mask_inputs", &Softmax::mask_inputs,
                               "Whether the second input is a mask, an "
                               "argument of the call in Keras."))}),
      [] { return Softmax(); }, CheckHasOneMask);
  return table;
}

std::vector<std::string> Softmax::keyword_inputs() const {
  return std::vector<std::string>(mask_inputs.size(), "mask");
}

absl::StatusOr<Shape> Softmax::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckAxis(axis, inputs[0]));
  const bool fits =
      inputs[0].size() == inputs.back().size() &&
      std::equal(
          inputs.back().begin(), inputs.back().end(), inputs[0].begin(),
          [](int64_t mask, int64_t size) { return mask == size || mask == 1; });
  if (!fits) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the mask has the shape ", ShapeToString(inputs.back()), ", expected ",
        ShapeToString(inputs[0]), ", whose axes may be 1"));
  }
  return inputs[0];
}

absl::StatusOr<OutputMask> Softmax::ComputeMask(const MaskedCall& call) const {
  if (!call.masks[0] || !mask_inputs.empty()) return OutputMask();
  return absl::InvalidArgumentError(absl::StrCat(
      "its input ", ShapeToString(call.inputs[0]), " has a mask ",
      ShapeToString(*call.masks[0]),
      ", which Keras would apply to the last axes; expected an input without a "
      "mask (use activation: softmax in the layer before)"));
}

ActivationFunction Softmax::final_activation() const {
  // A loss reads logits only along the last axis.
  return axis == -1 && mask_inputs.empty() ? ActivationFunction::kSoftmax
                                           : ActivationFunction::kLinear;
}

LoweredLayer Softmax::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  if (final_activation() == ActivationFunction::kSoftmax) return x;
  const auto softmax = [&](const op::Tensor& logits) {
    return op::Softmax(logits, 1 + ExampleAxis(axis, x.rank() - 1));
  };
  if (mask_inputs.empty()) return softmax(x);
  const op::Tensor mask = op::Greater(call.inputs[1], 0.5);
  return op::Select(
      mask, softmax(op::Select(mask, x, op::ConstantLike(x, kMaskedLogit))),
      op::ConstantLike(x, 0));
}

}  // namespace paceline
