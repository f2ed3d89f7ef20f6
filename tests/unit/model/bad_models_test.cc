// Models that are refused, with the layer and the reason.
#include <string>

#include "common/model/graph.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/testing.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

struct BadModel {
  const char* layers;
  absl::StatusCode code;
  // Both in the message.
  const char* path;
  const char* reason;
};

class BadModelTest : public ::testing::TestWithParam<BadModel> {};

TEST_P(BadModelTest, ErrorNamesLayerAndReason) {
  const auto graph = GraphOf(GetParam().layers);
  EXPECT_EQ(graph.status().code(), GetParam().code) << graph.status();
  const std::string message(graph.status().message());
  EXPECT_THAT(message, HasSubstr(GetParam().path));
  EXPECT_THAT(message, HasSubstr(GetParam().reason));
}

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

INSTANTIATE_TEST_SUITE_P(
    , BadModelTest,
    ::testing::Values(
        BadModel{"[]", kInvalid, "model.layers", "got 0"},
        BadModel{"[Input: {shape: [2]}]", kInvalid, "model.layers", "got 1"},
        BadModel{"[Dense: {units: 2}, Dense: {units: 2}]", kInvalid,
                 "model.layers[0]", "must be an Input"},
        BadModel{"[Input: {shape: [2]}, Input: {shape: [2]}]", kInvalid,
                 "model.layers[0]", "no layer reads its output"},
        BadModel{"[Input: {shape: [4, 2]}, MultiHeadAttention: {num_heads: 1, "
                 "key_dim: 1}]",
                 kInvalid, "model.layers[1].inputs",
                 "expected the names of 2 to 3 layers, got 0"},
        BadModel{"[Input: {shape: [4]}, {MultiHeadAttention: {num_heads: 1, "
                 "key_dim: 1}, inputs: [input_layer, input_layer]}]",
                 kInvalid, "model.layers[1]",
                 "inputs must have the shape (steps, size), got (4,), (4,)"},
        BadModel{"[Input: {shape: [4, 2]}, {Conv1D: {filters: 2, kernel_size: "
                 "2, name: a}, inputs: [input_layer]}, {MultiHeadAttention: "
                 "{num_heads: 1, key_dim: 1}, inputs: [a, a, input_layer]}]",
                 kInvalid, "model.layers[2]",
                 "value and key must have as many steps"},
        BadModel{"[Input: {shape: [4, 2]}, {MultiHeadAttention: {num_heads: 1, "
                 "key_dim: 1, attention_axes: [2]}, inputs: [input_layer, "
                 "input_layer]}]",
                 kUnimplemented, "model.layers[1]",
                 "attention_axes other than 1 are not supported yet"},
        BadModel{"[Input: {shape: [4, 2], name: a}, {MultiHeadAttention: "
                 "{num_heads: 1, key_dim: 1, mask_inputs: [attention_mask]}, "
                 "inputs: [a, a, a]}]",
                 kInvalid, "model.layers[1]",
                 "the attention_mask has the shape (4, 2), expected (4, 4)"},
        BadModel{"[Input: {shape: [4, 2], name: a}, {Input: {shape: [4], name: "
                 "m}}, {Softmax: {mask_inputs: [mask]}, inputs: [a, m]}]",
                 kInvalid, "model.layers[2]",
                 "the mask has the shape (4,), expected (4, 2), whose axes"},
        BadModel{"[Input: {shape: [4, 2], name: a}, {Softmax: {mask_inputs: "
                 "[mask, mask]}, inputs: [a, a, a]}]",
                 kInvalid, "model.layers[1].mask_inputs",
                 "expected \"mask\" at most once"},
        BadModel{"[Input: {shape: [4, 2], name: a}, {MultiHeadAttention: "
                 "{num_heads: 1, key_dim: 1, mask_inputs: [value_mask]}, "
                 "inputs: [a, a, a]}]",
                 kInvalid, "model.layers[1]",
                 "the value_mask has the shape (4, 2), expected (4,)"},
        BadModel{"[Input: {shape: [4, 4], name: a}, {MultiHeadAttention: "
                 "{num_heads: 1, key_dim: 1, mask_inputs: [attention_mask]}, "
                 "inputs: [a, a]}]",
                 kInvalid, "model.layers[1].inputs",
                 "expected the names of 3 to 4 layers, got 2"},
        BadModel{"[Input: {shape: [4], name: a}, {MultiHeadAttention: "
                 "{num_heads: 1, key_dim: 1, mask_inputs: [value_mask, "
                 "key_mask]}, inputs: [a, a, a, a]}]",
                 kInvalid, "model.layers[1].mask_inputs",
                 "in the order attention_mask, key_mask, query_mask"},
        BadModel{"[Input: {shape: [4, 2], name: a}, {Input: {shape: [1, 4, 4], "
                 "name: m}}, {Input: {shape: [4], name: v}}, "
                 "{MultiHeadAttention: {num_heads: 1, key_dim: 1, mask_inputs: "
                 "[attention_mask, value_mask]}, inputs: [a, a, m, v]}]",
                 kInvalid, "model.layers[3]",
                 "with an axis of heads does not go with another mask"},
        BadModel{"[Input: {shape: [4, 2]}, {Dot: {axes: [1, 2]}, inputs: "
                 "[input_layer, input_layer]}]",
                 kInvalid, "model.layers[1]",
                 "the same size along their axes, got (4, 2) and (4, 2)"},
        BadModel{"[Input: {shape: [4, 2]}, {Dot: {axes: 0}, inputs: "
                 "[input_layer, input_layer]}]",
                 kInvalid, "model.layers[1]", "axis"},
        BadModel{"[Input: {}, Dense: {units: 2}]", kInvalid, "model.layers[0]",
                 "shape: missing"},
        BadModel{"[Input: {shape: [0]}, Dense: {units: 2}]", kInvalid,
                 "model.layers[0].shape", "at least 1"},
        BadModel{"[Input: {shape: [2, null]}, Dense: {units: 2}]", kInvalid,
                 "model.layers[0].shape[1]", "integer"},
        BadModel{"[Input: {batch_shape: [null, null]}, Dense: {units: 2}]",
                 kUnimplemented, "model.layers[0].batch_shape[1]",
                 "inputs of any size (null) are not supported yet; expected "
                 "the size"},
        BadModel{"[Input: {batch_shape: [x, 4]}, Dense: {units: 2}]", kInvalid,
                 "model.layers[0].batch_shape[0]", "expected an integer"},
        BadModel{"[Input: {shape: [2]}, Dens: {units: 2}]", kInvalid,
                 "model.layers[1]", "did you mean \"Dense\""},
        BadModel{"[Input: {shape: [2]}, Dense: {}]", kInvalid,
                 "model.layers[1].units", "missing"},
        BadModel{"[Input: {shape: [2]}, Dense: {units: 2, unit: 3}]", kInvalid,
                 "model.layers[1].unit", "did you mean \"units\""},
        BadModel{"[Input: {shape: [2]}, Dense: {units: 2, activation: rel}]",
                 kInvalid, "model.layers[1].activation", "relu"},
        BadModel{"[Input: {shape: [2]}, Dense: {units: 2, dtype: float16}]",
                 kUnimplemented, "model.layers[1].dtype", "float16"},
        BadModel{"[Input: {shape: [2]}, Dense: {units: 2, name: a},"
                 " Dense: {units: 2, name: a}]",
                 kInvalid, "model.layers[2].name", "\"a\""},
        BadModel{
            "[Input: {shape: [4, 4]}, Conv2D: {filters: 1, kernel_size: 2}]",
            kInvalid, "model.layers[1]", "(4, 4)"},
        BadModel{
            "[Input: {shape: [4, 4, 1]}, Conv2D: {filters: 1, kernel_size: "
            "[5, 1]}]",
            kInvalid, "model.layers[1]", "height"},
        BadModel{
            "[Input: {shape: [4, 4, 1]}, Conv2D: {filters: 1, kernel_size: "
            "2, strides: 2, dilation_rate: 2}]",
            kInvalid, "model.layers[1]", "dilation_rate"},
        BadModel{
            "[Input: {shape: [4, 4, 4]}, Conv2D: {filters: 3, kernel_size: "
            "2, groups: 2}]",
            kInvalid, "model.layers[1]",
            "groups 2 must divide the 4 channels of the input and the 3"},
        BadModel{
            "[Input: {shape: [4, 4, 3]}, Conv2D: {filters: 4, kernel_size: "
            "2, groups: 2}]",
            kInvalid, "model.layers[1]", "groups 2 must divide the 3 channels"},
        BadModel{
            "[Input: {shape: [4, 4, 3]}, Conv2D: {filters: 4, kernel_size: "
            "2, groups: 0}]",
            kInvalid, "model.layers[1].groups", "at least 1"},
        BadModel{"[Input: {shape: [4]}, DepthwiseConv2D: {kernel_size: 2}]",
                 kInvalid, "model.layers[1]", "got (4,)"},
        BadModel{"[Input: {shape: [4, 4, 1]}, DepthwiseConv2D: {kernel_size: 2,"
                 " depth_multiplier: 0}]",
                 kInvalid, "model.layers[1].depth_multiplier", "must be"},
        BadModel{"[Input: {shape: [4, 4, 1]}, SeparableConv2D: {kernel_size: "
                 "2}]",
                 kInvalid, "model.layers[1].filters", "missing"},
        BadModel{"[Input: {shape: [4, 4]}, ZeroPadding2D: {}]", kInvalid,
                 "model.layers[1]", "got (4, 4)"},
        BadModel{"[Input: {shape: [4, 4, 1]}, ZeroPadding2D: {padding: [1]}]",
                 kInvalid, "model.layers[1].padding", "pair of pairs"},
        BadModel{"[Input: {shape: [4, 4, 1]}, ZeroPadding2D: {padding: [[0, "
                 "-1], 1]}]",
                 kInvalid, "model.layers[1].padding[0][1]", "must be"},
        BadModel{
            "[Input: {shape: [4, 4, 1]}, Conv2D: {filters: 1, kernel_size: "
            "9000000000}]",
            kInvalid, "model.layers[1].kernel_size", "must be"},
        BadModel{"[Input: {shape: [4]}, Dropout: {rate: 1}]", kInvalid,
                 "model.layers[1].rate", "must be"},
        BadModel{"[Input: {shape: [6]}, Reshape: {target_shape: [-1, -1]}]",
                 kInvalid, "model.layers[1]", "more than one -1"},
        BadModel{"[Input: {shape: [6]}, Reshape: {target_shape: [4, -1]}]",
                 kInvalid, "model.layers[1]", "do not fit"},
        BadModel{"[Input: {shape: [6]}, Reshape: {target_shape: [2, 2]}]",
                 kInvalid, "model.layers[1]", "do not fit"},
        BadModel{"[Input: {shape: [6]}, Softmax: {axis: 2}]", kInvalid,
                 "model.layers[1]", "axis 2"},
        BadModel{"[Input: {shape: [4, 2]}, Rescaling: {scale: [1, 2, 3]}]",
                 kInvalid, "model.layers[1]",
                 "scale must be one number, or one for each of the 2 channels"},
        BadModel{"[Input: {shape: [4, 2]}, Rescaling: {offset: 1}]", kInvalid,
                 "model.layers[1].scale", "missing"},
        BadModel{"[Input: {shape: [4, 2]}, Rescaling: {scale: big}]", kInvalid,
                 "model.layers[1].scale", "number"},
        BadModel{"[Input: {shape: [4, 2]}, UpSampling2D: {}]", kInvalid,
                 "model.layers[1]", "got (4, 2)"},
        BadModel{"[Input: {shape: [4, 2, 1]}, UpSampling2D: {interpolation: "
                 "bicubic}]",
                 kInvalid, "model.layers[1].interpolation", "bilinear"},
        BadModel{"[Input: {shape: [4, 2]}, LayerNormalization: {axis: 3}]",
                 kInvalid, "model.layers[1]", "axis 3"},
        BadModel{
            "[Input: {shape: [4, 2]}, LayerNormalization: {axis: [2, -1]}]",
            kInvalid, "model.layers[1]", "each once"},
        BadModel{"[Input: {shape: [4, 2]}, LayerNormalization: {axis: 1}]",
                 kUnimplemented, "model.layers[1]", "only the last axes"},
        BadModel{"[Input: {shape: [4, 6]}, GroupNormalization: {groups: 4}]",
                 kInvalid, "model.layers[1]",
                 "groups 4 must be -1 or a divisor of the 6 channels"},
        BadModel{"[Input: {shape: [4, 6]}, GroupNormalization: {groups: 0}]",
                 kInvalid, "model.layers[1]", "groups 0"},
        BadModel{"[Input: {shape: [4]}, Embedding: {input_dim: 3, output_dim: "
                 "0}]",
                 kInvalid, "model.layers[1].output_dim", "at least 1"},
        BadModel{"[Input: {shape: [4], name: in}, ReLU: {name: r},"
                 " Embedding: {input_dim: 3, output_dim: 2, name: e}]",
                 kInvalid, "model.layers[2].inputs",
                 "ids come from an Input only, not from \"r\""},
        BadModel{"[Input: {shape: [4, 2]}, Cropping1D: {cropping: [1, 3]}]",
                 kInvalid, "model.layers[1]",
                 "cropping [1, 3] leaves nothing of axis 1"},
        BadModel{"[Input: {shape: [4, 2, 1]}, Cropping2D: {cropping: [0, 1]}]",
                 kInvalid, "model.layers[1]",
                 "cropping [1, 1] leaves nothing of axis 2"},
        BadModel{"[Input: {shape: [4, 2]}, RepeatVector: {n: 2}]", kInvalid,
                 "model.layers[1]", "(features), got (4, 2)"},
        BadModel{"[Input: {shape: [4, 2]}, Permute: {dims: [1]}]", kInvalid,
                 "model.layers[1]", "dims [1] must name each axis"},
        BadModel{"[Input: {shape: [4, 2]}, Permute: {dims: [0, 1]}]", kInvalid,
                 "model.layers[1].dims", "at least 1"},
        BadModel{"[Input: {shape: [4, 2]}, PReLU: {shared_axes: [3]}]",
                 kInvalid, "model.layers[1]", "axis 3"},
        BadModel{"[Input: {shape: [4, 2]}, PReLU: {shared_axes: -1}]", kInvalid,
                 "model.layers[1].shared_axes", "at least 1"},
        BadModel{"[Input: {shape: [4, 2]}, Dropout: {rate: 0.5, noise_shape: "
                 "[null, 3, 1]}]",
                 kInvalid, "model.layers[1]", "noise_shape must be null"},
        BadModel{"[Input: {shape: [4, 2]}, Dropout: {rate: 0.5, noise_shape: "
                 "[1, 1, 1]}]",
                 kInvalid, "model.layers[1]", "noise_shape must be null"},
        BadModel{"[Input: {shape: [4, 2]}, SpatialDropout2D: {rate: 0.5}]",
                 kInvalid, "model.layers[1]", "got (4, 2)"},
        BadModel{"[Input: {shape: [4, 2]}, GaussianNoise: {stddev: 2}]",
                 kInvalid, "model.layers[1].stddev", "from 0 to 1"},
        BadModel{"[Input: {shape: [4, 2]}, Normalization: {mean: 1}]", kInvalid,
                 "model.layers[1]", "both mean and variance"},
        BadModel{"[Input: {shape: [4, 2]}, Normalization: {mean: [1, 2],"
                 " variance: 1}]",
                 kInvalid, "model.layers[1]", "as many numbers"},
        BadModel{"[Input: {shape: [4, 2]}, Normalization: {mean: [1, 2, 3],"
                 " variance: [1, 2, 3]}]",
                 kInvalid, "model.layers[1]",
                 "mean must be one number, or one for each of the 2 channels"},
        BadModel{"[Input: {shape: [4, 2]}, Normalization: {axis: 0}]", kInvalid,
                 "model.layers[1]", "axis 0"},
        BadModel{"[Input: {shape: [4, 4, 1]}, Conv1D: {filters: 1,"
                 " kernel_size: 2}]",
                 kInvalid, "model.layers[1]", "(steps, channels)"},
        BadModel{"[Input: {shape: [4, 1]}, Conv1D: {filters: 1,"
                 " kernel_size: 5}]",
                 kInvalid, "model.layers[1]",
                 "the steps of input shape (4, 1)"},
        BadModel{"[Input: {shape: [4, 4, 1]}, Conv2D: {filters: 1,"
                 " kernel_size: 2, padding: causal}]",
                 kInvalid, "model.layers[1].padding", "causal"},
        BadModel{"[Input: {shape: [4, 4, 1]}, Conv2DTranspose: {filters: 1,"
                 " kernel_size: 3, strides: 2, output_padding: 2}]",
                 kInvalid, "model.layers[1]",
                 "output_padding 2 does not fit strides 2"},
        // TensorFlow refuses it, too.
        BadModel{"[Input: {shape: [4, 4, 1]}, Conv2DTranspose: {filters: 1,"
                 " kernel_size: 2, strides: 2, padding: same, output_padding: "
                 "0}]",
                 kInvalid, "model.layers[1]", "output_padding 0"},
        BadModel{"[Input: {shape: [4, 4, 1]}, Conv2DTranspose: {filters: 1,"
                 " kernel_size: 2, strides: 2, dilation_rate: 2}]",
                 kInvalid, "model.layers[1]", "dilation_rate"},
        // What layers read.
        BadModel{"[Input: {shape: [2], name: a}, ReLU: {name: b},"
                 " {Subtract: {}, inputs: [a, b, a]}]",
                 kInvalid, "model.layers[2]", "expected 2 inputs, got 3"},
        BadModel{"[Input: {shape: [2, 3], name: a}, Dense: {units: 2, name: b},"
                 " {Add: {}, inputs: [a, b]}]",
                 kInvalid, "model.layers[2]", "got (2, 3) and (2, 2)"},
        BadModel{"[Input: {shape: [2, 3], name: a}, Flatten: {name: b},"
                 " {Multiply: {}, inputs: [a, b]}]",
                 kInvalid, "model.layers[2]", "the same shape"},
        BadModel{
            "[Input: {shape: [2]}, {Dense: {units: 2}, inputs: [input_layr]}]",
            kInvalid, "model.layers[1].inputs[0]",
            "\"input_layr\" is no layer before this one; did you mean"},
        BadModel{"[Input: {shape: [2]}, {Dense: {units: 2}, inputs: [b]},"
                 " Dense: {units: 2, name: b}]",
                 kInvalid, "model.layers[1].inputs[0]",
                 "\"b\" is no layer before this one"},
        BadModel{"[{Input: {shape: [2], name: a}, inputs: [a]},"
                 " Dense: {units: 2}]",
                 kInvalid, "model.layers[0].inputs",
                 "InputLayer \"a\": expected the names of no layers, got 1"},
        BadModel{"[Input: {shape: [2], name: a}, ReLU: {name: b},"
                 " {Dense: {units: 2, name: c}, inputs: [a, b]}]",
                 kInvalid, "model.layers[2].inputs",
                 "Dense \"c\": expected the names of 1 layer, got 2"},
        BadModel{"[Input: {shape: [2]}, Add: {}]", kInvalid,
                 "model.layers[1].inputs", "2 or more layers, got 0"},
        BadModel{"[Input: {shape: [2], name: a}, Dense: {units: 2, name: b},"
                 " {Dense: {units: 2}, inputs: [a]}]",
                 kInvalid, "model.layers[1]",
                 "Dense \"b\": no layer reads its output"},
        BadModel{"[Input: {shape: [2], name: a}, Dense: {units: 3},"
                 " {Add: {}, inputs: [a, dense]}]",
                 kInvalid, "model.layers[2]", "got (2,) and (3,)"},
        BadModel{"[Input: {shape: [2, 2], name: a}, Dense: {units: 3},"
                 " {Concatenate: {axis: 1}, inputs: [a, dense]}]",
                 kInvalid, "model.layers[2]",
                 "along axis 1, got (2, 2) and (2, 3)"},
        BadModel{"[Input: {shape: [2, 2], name: a}, Flatten: {},"
                 " {Concatenate: {}, inputs: [a, flatten]}]",
                 kInvalid, "model.layers[2]", "got (2, 2) and (4,)"},
        BadModel{"[Input: {shape: [2], name: a}, Dense: {units: 2},"
                 " {Concatenate: {axis: 0}, inputs: [a, dense]}]",
                 kInvalid, "model.layers[2]", "axis 0"},
        // Penalties on outputs.
        BadModel{"[Input: {shape: [2]}, Dense: {units: 2,"
                 " activity_regularizer: l3}]",
                 kInvalid, "model.layers[1].activity_regularizer",
                 "unknown regularizer"},
        BadModel{"[Input: {shape: [2]}, ActivityRegularization: {l1: -1}]",
                 kInvalid, "model.layers[1].l1", "at least 0"},
        BadModel{"[Input: {shape: [2]},"
                 " ActivityRegularization: {activity_regularizer: l2}]",
                 kInvalid, "model.layers[1]", "activity_regularizer"},
        BadModel{"[Input: {shape: [3, 2]}, TimeDistributed: {layer:"
                 " {Dense: {units: 2, activity_regularizer: l2}}}]",
                 kUnimplemented, "model.layers[1].layer",
                 "a penalty on the output of Dense"},
        BadModel{"[Input: {shape: [3, 2]}, Bidirectional: {layer:"
                 " {LSTM: {units: 2, activity_regularizer: l2}}}]",
                 kUnimplemented, "model.layers[1].layer",
                 "a penalty on the output of LSTM"},
        BadModel{"[Input: {shape: [3, 2]}, SimpleRNN: {units: 2,"
                 " activity_regularizer: l2}]",
                 kUnimplemented, "model.layers[1].activity_regularizer",
                 "not supported yet"},
        BadModel{"[Input: {shape: [3, 2], name: a}, {MultiHeadAttention:"
                 " {num_heads: 1, key_dim: 2, activity_regularizer: l2},"
                 " inputs: [a, a]}]",
                 kUnimplemented, "model.layers[1].activity_regularizer",
                 "not supported yet"},
        // Constraints.
        BadModel{"[Input: {shape: [2]}, Dense: {units: 2,"
                 " kernel_constraint: max}]",
                 kInvalid, "model.layers[1].kernel_constraint",
                 "unknown constraint"},
        BadModel{"[Input: {shape: [2]}, Dense: {units: 2,"
                 " kernel_constraint: {MaxNorm: {axis: [0, 2]}}}]",
                 kInvalid, "model.layers[1]",
                 "the constraint of its kernel: MaxNorm: expected different "
                 "axes from -2 to 1 of the shape (2, 2), got 2"},
        BadModel{"[Input: {shape: [2]}, Dense: {units: 2,"
                 " kernel_constraint: {UnitNorm: {axis: [1, -1]}}}]",
                 kInvalid, "model.layers[1]", "got -1"},
        BadModel{"[Input: {shape: [2]}, Dense: {units: 2,"
                 " bias_constraint: {MinMaxNorm: {min_value: 2}}}]",
                 kInvalid, "model.layers[1].bias_constraint.min_value",
                 "must be at most max_value"},
        // Shapes that would overflow.
        BadModel{"[Input: {shape: [4000000000, 4000000000, 4000000000]}, "
                 "Flatten: {}]",
                 kInvalid, "model.layers[0]", "elements"},
        BadModel{"[Input: {shape: [1000000]}, Dense: {units: 1000000000}]",
                 kInvalid, "model.layers[1]", "elements"},
        BadModel{"[Input: {shape: [1, 1, 1, 1, 1, 1, 1, 1, 1]}, Flatten: {}]",
                 kInvalid, "model.layers[0]", "dimensions"}));

}  // namespace
}  // namespace paceline
