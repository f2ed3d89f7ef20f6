#include "common/model/layers/batch_normalization.h"

#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/batch_moments.h"
#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/channel_normalization.h"
#include "common/operations/constant.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/select.h"

namespace paceline {

const FieldTable<BatchNormalization>& BatchNormalization::Fields() {
  using Self = BatchNormalization;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Normalization by the mean and variance of the batch.",
      LayerFields<Self>(Joined<Self>(
          {{Optional("axis", &Self::axis, "The channels: the last axis."),
            Optional("momentum", &Self::momentum, Within(0, 1),
                     "Of the moving mean and variance.")},
           NormalizationFields<Self>(),
           BetaAndGammaFields<Self>({{"moving_mean", "the moving mean",
                                      &Self::moving_mean_initializer},
                                     {"moving_variance", "the moving variance",
                                      &Self::moving_variance_initializer}}),
           {Optional("synchronized", &Self::synchronized,
                     "Whether the statistics are those of all replicas' "
                     "batches."),
            NotWritten(Only("renorm", false, "Batch renormalization.")),
            NotWritten(Ignored("renorm_clipping", nullptr,
                               "Of batch renormalization.")),
            NotWritten(Ignored("renorm_momentum", 0.99,
                               "Of batch renormalization."))}})));
  return table;
}

absl::StatusOr<Shape> BatchNormalization::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckRank(inputs[0], 1));
  const auto rank = static_cast<int64_t>(inputs[0].size());
  if (axis != -1 && axis != rank) {
    return absl::UnimplementedError(absl::StrCat(
        "axis ", axis, " of input shape ", ShapeToString(inputs[0]),
        " is not supported yet; only the last one, -1, is"));
  }
  return inputs[0];
}

std::vector<VariableSpec> BatchNormalization::Variables(
    absl::Span<const Shape> inputs) const {
  const Shape channels = {inputs[0].back()};
  std::vector<VariableSpec> variables = GammaAndBeta(channels);
  variables.push_back({"moving_mean", channels, moving_mean_initializer,
                       Regularizer(), Constraint(), VariableUpdate::kDelta,
                       momentum});
  variables.push_back({"moving_variance", channels, moving_variance_initializer,
                       Regularizer(), Constraint(), VariableUpdate::kDelta,
                       momentum});
  return variables;
}

bool SynchronizesStatistics(const Node& node) {
  if (node.layer->class_name() != BatchNormalization::kClassName) return false;
  const auto& layer = static_cast<const BatchNormalization&>(*node.layer);
  return layer.synchronized && layer.trainable && node.masked_inputs.empty();
}

std::vector<int64_t> SynchronizedChannels(const Graph& graph) {
  std::vector<int64_t> channels;
  for (const Node& node : graph.nodes) {
    if (!SynchronizesStatistics(node)) continue;
    channels.push_back(node.output_shape.back());
  }
  return channels;
}

absl::StatusOr<OutputMask> BatchNormalization::ComputeMask(
    const MaskedCall& call) const {
  Shape steps = call.inputs[0];
  steps.pop_back();
  if (call.masks[0] && *call.masks[0] != steps) {
    return absl::InvalidArgumentError(
        absl::StrCat("its input ", ShapeToString(call.inputs[0]),
                     " has a mask ", ShapeToString(*call.masks[0]),
                     "; Keras expects ", ShapeToString(steps)));
  }
  return Layer::ComputeMask(call);
}

// By the same formula as Keras, in float32 at least.
LoweredLayer BatchNormalization::LowerMasked(const LayerCall& call,
                                             const op::Tensor& mask) const {
  constexpr double kKerasEpsilon = 1e-7;
  const DataType type = call.inputs[0].data_type() == DataType::kFloat64
                            ? DataType::kFloat64
                            : DataType::kFloat32;
  const op::Tensor x = op::Cast(call.inputs[0], type);
  const op::Tensor zeros = op::ConstantLike(x, 0);
  const op::Tensor count =
      op::SumAll(op::Cast(call.masks[0], type)) + kKerasEpsilon;
  std::vector<int> axes(x.rank() - 1);
  std::iota(axes.begin(), axes.end(), 0);
  const op::Tensor mean = op::Sum(op::Select(mask, x, zeros), axes) / count;
  const op::Tensor distance = op::Select(mask, x - mean, zeros);
  const op::Tensor variance = op::Sum(distance * distance, axes) / count;
  const auto of_channels = [&](int variable) {
    return op::Cast(call.variables[variable], type);
  };
  op::Tensor y = (x - mean) / op::Sqrt(variance + epsilon);
  if (scale) y = y * of_channels(0);
  if (center) y = y + of_channels(scale ? 1 : 0);
  LoweredLayer lowered = op::Cast(y, call.inputs[0].data_type());
  const int moving_mean = static_cast<int>(call.variables.size()) - 2;
  const Shape channels = {x.shape().back()};
  lowered.statistics = {{moving_mean, op::Reshape(mean, channels)},
                        {moving_mean + 1, op::Reshape(variance, channels)}};
  return lowered;
}

LoweredLayer BatchNormalization::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  const int moving_mean = static_cast<int>(call.variables.size()) - 2;
  const int moving_variance = moving_mean + 1;
  op::GammaAndBeta variables;
  if (scale) variables.gamma = call.variables[0];
  if (center) variables.beta = call.variables[scale ? 1 : 0];
  if (!call.is_training || !trainable) {
    return op::NormalizeChannels(x, call.variables[moving_mean],
                                 call.variables[moving_variance], variables,
                                 epsilon);
  }
  Shape steps = x.shape();
  steps.back() = 1;
  if (const auto mask = call.MaskOf(0, std::move(steps))) {
    return LowerMasked(call, *mask);
  }
  const op::Moments moments = op::BatchMoments(x, synchronized);
  LoweredLayer lowered =
      op::NormalizeByBatch(x, moments, synchronized, variables, epsilon);
  lowered.statistics = {{moving_mean, moments.mean},
                        {moving_variance, moments.variance}};
  return lowered;
}

}  // namespace paceline
