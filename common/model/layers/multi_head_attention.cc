#include "common/model/layers/multi_head_attention.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/layers/noise_layer.h"
#include "common/model/layers/variable_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"
#include "common/operations/broadcast.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/iota.h"
#include "common/operations/matrix_product.h"
#include "common/operations/random.h"
#include "common/operations/reshape.h"
#include "common/operations/select.h"
#include "common/operations/softmax.h"
#include "common/operations/transpose.h"

namespace paceline {
namespace {

// In the order of the variables.
constexpr int kQuery = 0;
constexpr int kKey = 1;
constexpr int kValue = 2;
constexpr int kOutput = 3;

// Far below any score, so that its exponential is 0.
constexpr double kMaskedScore = -1e30;

using MaskInput = MultiHeadAttention::MaskInput;

constexpr EnumName<MaskInput> kMaskInputs[] = {
    {MaskInput::kAttentionMask, "attention_mask"},
    {MaskInput::kKeyMask, "key_mask"},
    {MaskInput::kQueryMask, "query_mask"},
    {MaskInput::kValueMask, "value_mask"},
};

// In the order of Keras' walk over keywords, which numbers layers in its files.
absl::Status CheckMaskOrder(const MultiHeadAttention& layer, const Path& path) {
  const auto& masks = layer.mask_inputs;
  if (std::adjacent_find(masks.begin(), masks.end(), std::greater_equal<>()) ==
      masks.end()) {
    return absl::OkStatus();
  }
  return ConfigError(path.Key("mask_inputs"),
                     "expected each at most once, in the order attention_mask, "
                     "key_mask, query_mask, value_mask");
}

// (batch, steps, heads, size) to (batch, heads, steps, size), or back.
op::Tensor SwapStepsAndHeads(const op::Tensor& x) {
  return op::Transpose(x, {0, 2, 1, 3});
}

// Whether a query attends to a key, (1, 1, queries, keys): to those of no later
// step.
op::Tensor CausalMask(const op::Tensor& scores) {
  const int64_t queries = scores.dimension(2);
  const int64_t keys = scores.dimension(3);
  op::Function& function = scores.function();
  const op::Tensor step = op::Iota(function, queries, scores.data_type());
  const op::Tensor other = op::Iota(function, keys, scores.data_type());
  const Shape shape = {1, 1, queries, keys};
  return op::GreaterEqual(
      op::Broadcast(op::Reshape(step, {1, 1, queries, 1}), shape),
      op::Broadcast(op::Reshape(other, {1, 1, 1, keys}), shape));
}

absl::Status WrongInputs(absl::Span<const Shape> inputs, const char* reason) {
  return absl::InvalidArgumentError(
      absl::StrCat(reason, ", got ", ShapeToString(inputs[0]), ", ",
                   ShapeToString(inputs[1]), inputs.size() > 2 ? ", " : "",
                   inputs.size() > 2 ? ShapeToString(inputs[2]) : ""));
}

}  // namespace

absl::Span<const EnumName<MaskInput>> EnumNames(MaskInput) {
  return kMaskInputs;
}

const FieldTable<MultiHeadAttention>& MultiHeadAttention::Fields() {
  using Self = MultiHeadAttention;
  Field<Self> value_dim =
      WrittenAs<Self>([](const Self& layer) { return layer.value_size(); },
                      Optional("value_dim", &Self::value_dim, AtLeast(1),
                               "Size of a head's value; null: key_dim."));
  Field<Self> output_shape = WrittenAs<Self>(
      [](const Self& layer) {
        return layer.output_shape ? WriteAsList(*layer.output_shape) : Value();
      },
      Optional("output_shape", &Self::output_shape,
               "Size of the output; null: that of the query."));
  Field<Self> attention_axes = WrittenAs<Self>(
      [](const Self& layer) {
        return layer.attention_axes ? WriteAsList(*layer.attention_axes)
                                    : Value();
      },
      Optional("attention_axes", &Self::attention_axes,
               "The axis of the steps: 1, or null."));
  static const auto& table = *new FieldTable<Self>(
      kClassName,
      "Attention of a query (T, d) to a value (S, v) with a key (S, k), by "
      "default the value. Its `inputs` are query, value and perhaps key.",
      UnpenalizedLayerFields<Self>(Joined<Self>(
          {{Required("num_heads", &Self::num_heads, AtLeast(1),
                     "Number of heads."),
            Required("key_dim", &Self::key_dim, AtLeast(1),
                     "Size of a head's query and key."),
            std::move(value_dim),
            Optional("dropout", &Self::dropout, Within(0, 1),
                     "Share of the weights that are dropped in training."),
            Optional("use_bias", &Self::use_bias,
                     "Whether projections add a bias."),
            NotWritten(Only("use_gate", false,
                            "Whether a gate multiplies the result.")),
            std::move(output_shape), std::move(attention_axes),
            NotWritten(Only("sliding_window", nullptr,
                            "Steps that a query attends to."))},
           VariableFields<Self>(
               {{"kernel", "the kernels", &Self::kernel_initializer,
                 &Self::kernel_regularizer, &Self::kernel_constraint},
                {"bias", "the biases", &Self::bias_initializer,
                 &Self::bias_regularizer, &Self::bias_constraint}},
               Only("activity_regularizer", nullptr,
                    "Penalty on the outputs of the projections.")),
           {WrittenUnlessDefault(SeedField<Self>()),
            NotWritten(Only("return_attention_scores", false,
                            "Whether the weights are an output, too.")),
            WrittenUnlessDefault(Optional(
                "use_causal_mask", &Self::use_causal_mask,
                "Whether a step attends to itself and earlier ones only. An "
                "argument of the call in Keras.")),
            NotWritten(Optional("mask_inputs", &Self::mask_inputs,
                                "Masks among the inputs, behind query, value "
                                "and key; arguments "
                                "of the call in Keras."))}})),
      [] { return Self(); }, CheckMaskOrder);
  return table;
}

std::vector<std::string> MultiHeadAttention::keyword_inputs() const {
  std::vector<std::string> keywords;
  for (const MaskInput mask : mask_inputs) {
    keywords.push_back(Codec<MaskInput>::Write(mask).as_string());
  }
  return keywords;
}

bool MultiHeadAttention::HasMaskOfHeads(absl::Span<const Shape> inputs) const {
  return !mask_inputs.empty() && mask_inputs[0] == MaskInput::kAttentionMask &&
         inputs[inputs.size() - mask_inputs.size()].size() == 3;
}

absl::Status MultiHeadAttention::CheckMaskInputs(
    absl::Span<const Shape> inputs) const {
  const int64_t queries = inputs[0][0];
  const int64_t keys = inputs[1][0];
  const std::vector<std::string> keywords = keyword_inputs();
  for (size_t i = 0; i < keywords.size(); ++i) {
    const Shape& mask = inputs[inputs.size() - keywords.size() + i];
    Shape expected = {mask_inputs[i] == MaskInput::kQueryMask ? queries : keys};
    if (mask_inputs[i] == MaskInput::kAttentionMask) {
      expected = {queries, keys};
      if (mask.size() == 3) expected.insert(expected.begin(), num_heads);
    }
    const bool fits =
        mask.size() == expected.size() &&
        std::equal(mask.begin(), mask.end(), expected.begin(),
                   [&](int64_t size, int64_t wanted) {
                     return size == wanted || (size == 1 && mask.size() > 1);
                   });
    if (fits) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the ", keywords[i], " has the shape ", ShapeToString(mask),
        ", expected ", ShapeToString(expected),
        mask_inputs[i] == MaskInput::kAttentionMask
            ? " (queries, keys), or with the heads in front; axes may be 1"
            : ""));
  }
  if (HasMaskOfHeads(inputs) && mask_inputs.size() > 1) {
    return absl::InvalidArgumentError(
        "an attention_mask with an axis of heads does not go with another mask "
        "in Keras");
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> MultiHeadAttention::OutputShape(
    absl::Span<const Shape> all_inputs) const {
  const absl::Span<const Shape> inputs = SequencesOf(all_inputs);
  for (const Shape& input : inputs) {
    if (input.size() != 2) {
      return WrongInputs(inputs, "inputs must have the shape (steps, size)");
    }
  }
  if (inputs.back()[0] != inputs[1][0]) {
    return WrongInputs(inputs, "value and key must have as many steps");
  }
  RETURN_IF_ERROR(CheckMaskInputs(all_inputs));
  if (attention_axes && *attention_axes != AxisList{1}) {
    return absl::UnimplementedError(
        "attention_axes other than 1 are not supported yet");
  }
  if (!output_shape) return inputs[0];
  if (output_shape->size() != 1 || output_shape->front() < 1) {
    return absl::UnimplementedError(
        "an output_shape other than one size is not supported yet");
  }
  return Shape{inputs[0][0], output_shape->front()};
}

std::vector<VariableSpec> MultiHeadAttention::Variables(
    absl::Span<const Shape> all_inputs) const {
  const absl::Span<const Shape> inputs = SequencesOf(all_inputs);
  const auto to_heads = [&](const Shape& input, int64_t size) {
    return Shape{input[1], num_heads, size};
  };
  const int64_t units = output_shape ? output_shape->front() : inputs[0].back();
  std::vector<VariableSpec> variables;
  AddProjection("query", to_heads(inputs[0], key_dim), {num_heads, key_dim},
                variables);
  AddProjection("key", to_heads(inputs.back(), key_dim), {num_heads, key_dim},
                variables);
  AddProjection("value", to_heads(inputs[1], value_size()),
                {num_heads, value_size()}, variables);
  AddProjection("attention_output", {num_heads, value_size(), units}, {units},
                variables);
  return variables;
}

void MultiHeadAttention::AddProjection(
    const std::string& prefix, const Shape& kernel, const Shape& bias,
    std::vector<VariableSpec>& variables) const {
  variables.push_back({absl::StrCat(prefix, "/kernel"), kernel,
                       kernel_initializer, kernel_regularizer,
                       kernel_constraint});
  if (!use_bias) return;
  variables.push_back({absl::StrCat(prefix, "/bias"), bias, bias_initializer,
                       bias_regularizer, bias_constraint});
}

std::string MultiHeadAttention::WeightPath(int variable) const {
  static constexpr const char* kPlaces[] = {"query_dense", "key_dense",
                                            "value_dense", "output_dense"};
  const int count = variables_of_projection();
  return absl::StrCat(kPlaces[variable / count], "/",
                      Layer::WeightPath(variable % count));
}

op::Tensor MultiHeadAttention::Project(const LayerCall& call, int projection,
                                       const op::Tensor& x) const {
  const int first = projection * variables_of_projection();
  const op::Tensor& kernel = call.variables[first];
  const int64_t batch = x.dimension(0);
  const int64_t steps = x.dimension(1);
  const int64_t size = x.dimension(2);
  const int64_t columns = kernel.count() / size;
  op::Tensor y = op::MatrixProduct(op::Reshape(x, {batch * steps, size}),
                                   op::Reshape(kernel, {size, columns}));
  if (use_bias) y = y + op::Reshape(call.variables[first + 1], {columns});
  return op::Reshape(y, {batch, steps, columns});
}

op::Tensor MultiHeadAttention::ProjectToHeads(const LayerCall& call,
                                              int projection,
                                              const op::Tensor& x,
                                              int64_t size) const {
  const op::Tensor y = Project(call, projection, x);
  return SwapStepsAndHeads(
      op::Reshape(y, {x.dimension(0), x.dimension(1), num_heads, size}));
}

absl::StatusOr<OutputMask> MultiHeadAttention::ComputeMask(
    const MaskedCall& call) const {
  for (size_t i = 0; i < SequencesOf(call.inputs).size(); ++i) {
    RETURN_IF_ERROR(CheckStepMask(call.inputs[i], call.masks[i]));
    if (!call.masks[i] || !HasMaskOfHeads(call.inputs)) continue;
    return absl::InvalidArgumentError(
        "an attention_mask with an axis of heads does not go with the mask of "
        "an input in Keras");
  }
  return Layer::ComputeMask(call);
}

std::vector<op::Tensor> MultiHeadAttention::GivenMasks(
    const LayerCall& call) const {
  std::vector<op::Tensor> masks;
  for (size_t i = 0; i < mask_inputs.size(); ++i) {
    if (mask_inputs[i] == MaskInput::kQueryMask) continue;
    const op::Tensor& x =
        call.inputs[call.inputs.size() - mask_inputs.size() + i];
    Shape shape = x.shape();
    while (shape.size() < 4) shape.insert(shape.begin() + 1, 1);
    masks.push_back(op::Not(op::Equal(op::Reshape(x, std::move(shape)), 0)));
  }
  return masks;
}

bool MultiHeadAttention::IsMaskedByInput(size_t input) const {
  static constexpr std::optional<MaskInput> kMaskOf[] = {
      std::nullopt, MaskInput::kValueMask, MaskInput::kKeyMask};
  return std::any_of(mask_inputs.begin(), mask_inputs.end(),
                     [&](MaskInput mask) { return mask == kMaskOf[input]; });
}

op::Tensor MultiHeadAttention::Masked(const LayerCall& call, op::Tensor x,
                                      double value) const {
  const op::Tensor masked = op::ConstantLike(x, value);
  if (use_causal_mask) {
    x = op::Select(op::Broadcast(CausalMask(x), x.shape()), x, masked);
  }
  for (const op::Tensor& mask : GivenMasks(call)) {
    x = op::Select(mask, x, masked);
  }
  for (size_t i = 0; i < SequencesOf(call.inputs).size(); ++i) {
    if (IsMaskedByInput(i)) continue;
    const bool is_of_query = i == 0;
    const Shape shape = is_of_query
                            ? Shape{x.dimension(0), 1, x.dimension(2), 1}
                            : Shape{x.dimension(0), 1, 1, x.dimension(3)};
    const std::optional<op::Tensor> mask =
        call.MaskOf(static_cast<int>(i), shape);
    if (mask) x = op::Select(*mask, x, masked);
  }
  return x;
}

// If a query attends to no key, all have the same weight; in Keras, too, but
// only without dropout, since its kernels differ.
op::Tensor MultiHeadAttention::Weights(const LayerCall& call,
                                       const op::Tensor& scores) const {
  const op::Tensor weights =
      op::Softmax(Masked(call, scores, kMaskedScore), /*axis=*/3);
  if (dropout == 0) return weights;
  const op::Tensor unmasked = call.masks.empty() && mask_inputs.empty()
                                  ? weights
                                  : Masked(call, weights, 0);
  if (!call.is_training) return unmasked;
  const op::Tensor is_kept =
      op::DropoutMask(scores.function(), scores.shape(), dropout,
                      NoiseKeyOf(*this, seed, call.seed, call.call));
  return op::Select(is_kept, unmasked * (1 / (1 - dropout)),
                    op::ConstantLike(weights, 0));
}

LoweredLayer MultiHeadAttention::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  const op::Tensor query = ProjectToHeads(call, kQuery, x, key_dim) *
                           (1 / std::sqrt(static_cast<double>(key_dim)));
  const op::Tensor key =
      ProjectToHeads(call, kKey, SequencesOf(call.inputs).back(), key_dim);
  const op::Tensor value =
      ProjectToHeads(call, kValue, call.inputs[1], value_size());
  const op::Tensor scores =
      op::MatrixProduct(query, key, /*left_is_transposed=*/false,
                        /*right_is_transposed=*/true);
  const op::Tensor heads = op::MatrixProduct(Weights(call, scores), value);
  return Project(
      call, kOutput,
      op::Reshape(SwapStepsAndHeads(heads),
                  {x.dimension(0), x.dimension(1), num_heads * value_size()}));
}

}  // namespace paceline
