#include "common/model/layers/time_distributed.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/layers/batch_normalization.h"
#include "common/model/layers/bidirectional.h"
#include "common/model/layers/input_layer.h"
#include "common/model/layers/noise_layer.h"
#include "common/model/layers/recurrent_layer.h"
#include "common/model/shape_rule.h"
#include "common/operations/reshape.h"

namespace paceline {
namespace {

// Whether the layer computes each example by itself, by the same formula in
// training and in evaluation.
bool IsFunctionOfExample(const Layer& layer) {
  const auto* recurrent = dynamic_cast<const RecurrentLayer*>(&layer);
  return layer.class_name() != InputLayer::kClassName &&
         layer.class_name() != BatchNormalization::kClassName &&
         layer.class_name() != Bidirectional::kClassName &&
         layer.input_count().most == 1 && layer.id_count() == 0 &&
         dynamic_cast<const NoiseLayer*>(&layer) == nullptr &&
         (recurrent == nullptr ||
          (recurrent->dropout == 0 && recurrent->recurrent_dropout == 0));
}

absl::Status CheckLayer(const TimeDistributed& object, const Path& path) {
  // Keras would ignore the penalty.
  RETURN_IF_ERROR(CheckUnpenalized(*object.layer, path.Key("layer")));
  if (IsFunctionOfExample(*object.layer)) return absl::OkStatus();
  return ConfigError(
      path.Key("layer"),
      absl::StrCat(object.layer->class_name(),
                   " is not supported yet in a TimeDistributed; expected a "
                   "layer with one input, without random numbers or "
                   "statistics of a batch"),
      absl::StatusCode::kUnimplemented);
}

// The shape of a step.
Shape StepOf(const Shape& input) {
  return Shape(input.begin() + 1, input.end());
}

// `shape` with other axes in place of the first `count`.
Shape WithFront(const Shape& front, const Shape& shape, int count) {
  Shape result = front;
  result.insert(result.end(), shape.begin() + count, shape.end());
  return result;
}

}  // namespace

const FieldTable<TimeDistributed>& TimeDistributed::Fields() {
  static const auto& table = *new FieldTable<TimeDistributed>(
      kClassName, "A layer for each step of a sequence.",
      LayerFields<TimeDistributed>(
          {Required("layer", &TimeDistributed::layer, "The layer of a step.")}),
      [] { return TimeDistributed(); }, CheckLayer);
  return table;
}

absl::StatusOr<Shape> TimeDistributed::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckRank(inputs[0], 2));
  ASSIGN_OR_RETURN(const Shape step, layer->OutputShape({StepOf(inputs[0])}));
  return WithFront({inputs[0][0]}, step, 0);
}

std::vector<VariableSpec> TimeDistributed::Variables(
    absl::Span<const Shape> inputs) const {
  return WrappedVariables("layer", *layer, {StepOf(inputs[0])});
}

std::string TimeDistributed::WeightPath(int variable) const {
  return absl::StrCat("layer/", layer->WeightPath(variable));
}

absl::StatusOr<OutputMask> TimeDistributed::ComputeMask(
    const MaskedCall& call) const {
  if (call.masks[0] && layer->has_mask_argument()) {
    const Shape step = StepOf(call.inputs[0]);
    const Shape mask = StepOf(*call.masks[0]);
    if (mask.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "its input ", ShapeToString(call.inputs[0]), " has a mask ",
          ShapeToString(*call.masks[0]), ", of which Keras would give ",
          layer->class_name(),
          " one number a step; expected a mask of the steps in each step"));
    }
    RETURN_IF_ERROR(
        layer->ComputeMask({{step}, {std::optional(mask)}}).status());
  }
  return Layer::ComputeMask(call);
}

LoweredLayer TimeDistributed::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  const int64_t batch = x.dimension(0);
  const int64_t steps = x.dimension(1);
  const op::Tensor all_steps =
      op::Reshape(x, WithFront({batch * steps}, x.shape(), 2));
  LayerCall part = call;
  part.inputs = {&all_steps, 1};
  std::vector<op::Tensor> masks(call.masks.begin(), call.masks.end());
  for (op::Tensor& mask : masks) {
    mask = op::Reshape(mask, WithFront({batch * steps}, mask.shape(), 2));
  }
  part.masks = masks;
  const op::Tensor output = layer->Lower(part).output;
  return op::Reshape(output, WithFront({batch, steps}, output.shape(), 1));
}

}  // namespace paceline
