#include "common/model/graph.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/config/field_table.h"
#include "common/limits.h"
#include "common/model/layers/batch_normalization.h"
#include "common/model/layers/conv2d.h"
#include "common/model/layers/dense.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/testing.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kTutorial[] =
    "[Input: {shape: [28, 28, 1]},"
    " Conv2D: {filters: 32, kernel_size: 3, activation: relu},"
    " MaxPooling2D: {}, Flatten: {}, Dense: {units: 64, activation: relu},"
    " Dense: {units: 10}]";

TEST(GraphTest, InfersTheTutorialsShapes) {
  const auto graph = GraphOf(kTutorial);
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::vector<std::string> names;
  std::vector<Shape> shapes;
  for (const Node& node : graph->nodes) {
    names.push_back(node.layer->name);
    shapes.push_back(node.output_shape);
  }
  EXPECT_THAT(names, ElementsAre("input_layer", "conv2d", "max_pooling2d",
                                 "flatten", "dense", "dense_1"));
  EXPECT_THAT(shapes, ElementsAre(Shape{28, 28, 1}, Shape{26, 26, 32},
                                  Shape{13, 13, 32}, Shape{5408}, Shape{64},
                                  Shape{10}));
  std::vector<std::string> variables;
  int64_t parameters = 0;
  for (const VariableSpec& variable : graph->variables) {
    variables.push_back(
        absl::StrCat(variable.name, ShapeToString(variable.shape)));
    parameters += NumElements(variable.shape);
  }
  EXPECT_THAT(variables,
              ElementsAre("conv2d/kernel(3, 3, 1, 32)", "conv2d/bias(32,)",
                          "dense/kernel(5408, 64)", "dense/bias(64,)",
                          "dense_1/kernel(64, 10)", "dense_1/bias(10,)"));
  EXPECT_EQ(parameters, 347'146);
  EXPECT_THAT(graph->nodes[5].inputs, ElementsAre(4));
  EXPECT_THAT(graph->nodes[5].variables, ElementsAre(4, 5));
  EXPECT_THAT(graph->inputs, ElementsAre(0));
  EXPECT_THAT(graph->outputs, ElementsAre(5));
}

TEST(GraphTest, InputsMayBeIntegers) {
  for (const char* dtype : {"int32", "int64", "float32"}) {
    const auto graph = GraphOf(absl::StrCat(
        "[Input: {shape: [4], dtype: ", dtype, "}, Dense: {units: 2}]"));
    EXPECT_TRUE(graph.ok()) << graph.status();
  }
}

TEST(GraphTest, KeepsGivenNamesAndAvoidsThem) {
  const auto graph = GraphOf(
      "[Input: {shape: [2], name: start}, Dense: {units: 2},"
      " Dense: {units: 2, name: dense_1}, Dense: {units: 2},"
      " ReLU: {}, GlobalAveragePooling2D: {name: x}]");
  // The last layer does not fit, which the error says with its given name.
  EXPECT_THAT(std::string(graph.status().message()), HasSubstr("\"x\""));
  const auto good = GraphOf(
      "[Input: {shape: [2], name: start}, Dense: {units: 2},"
      " Dense: {units: 2, name: dense_1}, Dense: {units: 2}, ReLU: {}]");
  ASSERT_TRUE(good.ok()) << good.status();
  std::vector<std::string> names;
  for (const auto& layer : good->layers) names.push_back(layer->name);
  EXPECT_THAT(names,
              ElementsAre("start", "dense", "dense_1", "dense_2", "re_lu"));
}

TEST(GraphTest, ReadsKerasOwnConfigs) {
  const auto graph = GraphOf(R"([
    {"class_name": "InputLayer", "module": "keras.layers",
     "registered_name": null,
     "config": {"batch_shape": [32, 9, 9, 2], "dtype": "float32",
                "sparse": false, "ragged": false, "name": "in",
                "optional": false}},
    {"class_name": "Conv2D", "module": "keras.layers", "registered_name": null,
     "config": {"name": "conv2d", "trainable": true,
       "dtype": {"module": "keras", "class_name": "DTypePolicy",
                 "config": {"name": "float32"}, "registered_name": null},
       "filters": 4, "kernel_size": [3, 3], "strides": [1, 1],
       "padding": "same", "data_format": "channels_last",
       "dilation_rate": [1, 1], "groups": 1, "activation": "relu",
       "use_bias": true,
       "kernel_initializer": {"module": "keras.initializers",
         "class_name": "GlorotUniform", "registered_name": null,
         "config": {"seed": null, "input_axes": null, "output_axes": null}},
       "bias_initializer": {"module": "keras.initializers",
         "class_name": "Zeros", "config": {}, "registered_name": null},
       "kernel_regularizer": {"module": "keras.regularizers",
         "class_name": "L2", "config": {"l2": 0.25}, "registered_name": null},
       "bias_regularizer": null, "activity_regularizer": null,
       "kernel_constraint": null, "bias_constraint": null},
     "build_config": {"input_shape": [null, 9, 9, 2]}}])");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->output_shape(0), (Shape{9, 9, 4}));
  EXPECT_EQ(graph->variables[0].regularizer.l2, 0.25);
  EXPECT_EQ(graph->variables[0].initializer->class_name(), "GlorotUniform");
  EXPECT_EQ(graph->variables[1].regularizer.l2, 0);
}

TEST(GraphTest, ShapeRules) {
  const auto output = [](const std::string& input, const std::string& layer) {
    const auto graph =
        GraphOf("[Input: {shape: " + input + "}, " + layer + "]");
    EXPECT_TRUE(graph.ok()) << graph.status();
    return graph.ok() ? graph->output_shape(0) : Shape{};
  };
  EXPECT_EQ(output("[7, 6, 3]",
                   "Conv2D: {filters: 5, kernel_size: [3, 2], strides: 2}"),
            (Shape{3, 3, 5}));
  EXPECT_EQ(output("[7, 6, 3]",
                   "Conv2D: {filters: 5, kernel_size: 3, "
                   "strides: 2, padding: same}"),
            (Shape{4, 3, 5}));
  EXPECT_EQ(
      output("[7, 6, 3]",
             "Conv2D: {filters: 5, kernel_size: 3, dilation_rate: [2, 1]}"),
      (Shape{3, 4, 5}));
  EXPECT_EQ(
      output("[7, 6, 4]", "Conv2D: {filters: 6, kernel_size: 3, groups: 2}"),
      (Shape{5, 4, 6}));
  EXPECT_EQ(output("[7, 6, 4]",
                   "DepthwiseConv2D: {kernel_size: 3, depth_multiplier: 2}"),
            (Shape{5, 4, 8}));
  EXPECT_EQ(
      output("[7, 6, 4]", "SeparableConv2D: {filters: 5, kernel_size: 3}"),
      (Shape{5, 4, 5}));
  EXPECT_EQ(output("[7, 6, 4]", "ZeroPadding2D: {}"), (Shape{9, 8, 4}));
  EXPECT_EQ(output("[7, 6, 4]", "ZeroPadding2D: {padding: [1, 2]}"),
            (Shape{9, 10, 4}));
  EXPECT_EQ(output("[7, 6, 4]", "ZeroPadding2D: {padding: [[0, 1], [2, 3]]}"),
            (Shape{8, 11, 4}));
  EXPECT_EQ(output("[7, 6, 4]", "UpSampling2D: {size: [2, 3]}"),
            (Shape{14, 18, 4}));
  EXPECT_EQ(output("[7, 6]", "Embedding: {input_dim: 9, output_dim: 3}"),
            (Shape{7, 6, 3}));
  EXPECT_EQ(output("[7, 6]", "LayerNormalization: {}"), (Shape{7, 6}));
  EXPECT_EQ(output("[7, 6]", "Rescaling: {scale: 2}"), (Shape{7, 6}));
  EXPECT_EQ(output("[7, 6, 3]", "AveragePooling2D: {pool_size: 3}"),
            (Shape{2, 2, 3}));
  EXPECT_EQ(output("[7, 6, 3]", "MaxPooling2D: {pool_size: 3, strides: 1}"),
            (Shape{5, 4, 3}));
  EXPECT_EQ(output("[7, 6, 3]", "GlobalAveragePooling2D: {}"), (Shape{3}));
  EXPECT_EQ(output("[7, 6, 3]", "GlobalAveragePooling2D: {keepdims: true}"),
            (Shape{1, 1, 3}));
  EXPECT_EQ(output("[7, 6, 3]", "Flatten: {}"), (Shape{126}));
  EXPECT_EQ(output("[7, 6, 3]", "Reshape: {target_shape: [-1, 21]}"),
            (Shape{6, 21}));
  EXPECT_EQ(output("[7, 6, 3]", "Dense: {units: 2}"), (Shape{7, 6, 2}));
  EXPECT_EQ(output("[7, 6]", "Softmax: {axis: 2}"), (Shape{7, 6}));
  EXPECT_EQ(output("[7, 6, 4]", "Cropping2D: {cropping: [[0, 1], [2, 3]]}"),
            (Shape{6, 1, 4}));
  EXPECT_EQ(output("[7, 6]", "Cropping1D: {}"), (Shape{5, 6}));
  EXPECT_EQ(output("[7, 6]", "ZeroPadding1D: {padding: [0, 2]}"),
            (Shape{9, 6}));
  EXPECT_EQ(output("[7, 6]", "UpSampling1D: {}"), (Shape{14, 6}));
  EXPECT_EQ(output("[7]", "RepeatVector: {n: 3}"), (Shape{3, 7}));
  EXPECT_EQ(output("[7, 6, 4]", "Permute: {dims: [3, 1, 2]}"),
            (Shape{4, 7, 6}));
  EXPECT_EQ(output("[7, 6]", "Conv1D: {filters: 4, kernel_size: 3}"),
            (Shape{5, 4}));
  EXPECT_EQ(output("[7, 6]", "MaxPooling1D: {padding: same}"), (Shape{4, 6}));
  EXPECT_EQ(output("[7, 6]", "GlobalMaxPooling1D: {}"), (Shape{6}));
  EXPECT_EQ(output("[7, 6, 3]", "GlobalMaxPooling2D: {keepdims: true}"),
            (Shape{1, 1, 3}));
  EXPECT_EQ(output("[7, 6, 3]",
                   "Conv2DTranspose: {filters: 4, kernel_size: [3, 1],"
                   " strides: 2}"),
            (Shape{15, 12, 4}));
  EXPECT_EQ(output("[7, 6, 3]",
                   "Conv2DTranspose: {filters: 4, kernel_size: 3, strides: 2,"
                   " padding: same, output_padding: [0, 1]}"),
            (Shape{13, 12, 4}));
}

TEST(GraphTest, LayersReadThoseThatTheyName) {
  const auto graph = GraphOf(
      "[Input: {shape: [4]}, Dense: {units: 4},"
      " {Dense: {units: 4, name: side}, inputs: [input_layer]},"
      " {Add: {}, inputs: [dense, side]}, {class_name: Concatenate, config: {},"
      " inputs: [add, input_layer, add]}, Dense: {units: 2}]");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->nodes[1].inputs, ElementsAre(0));
  EXPECT_THAT(graph->nodes[2].inputs, ElementsAre(0));
  EXPECT_THAT(graph->nodes[3].inputs, ElementsAre(1, 2));
  EXPECT_THAT(graph->nodes[4].inputs, ElementsAre(3, 0, 3));
  EXPECT_THAT(graph->nodes[5].inputs, ElementsAre(4));
  EXPECT_EQ(graph->nodes[4].output_shape, (Shape{12}));
  EXPECT_EQ(ReaderCount(*graph, 0), 3);
  EXPECT_EQ(ReaderCount(*graph, 3), 2);
  // It is the output of the model.
  EXPECT_EQ(ReaderCount(*graph, 5), 1);
}

TEST(GraphTest, AModelMayHaveSeveralInputsAndOutputs) {
  const auto graph = GraphOf(
      "[Input: {shape: [4], name: words}, Input: {shape: [3], name: row},"
      " Input: {shape: [2], name: tags},"
      " {Embedding: {input_dim: 9, output_dim: 3, name: a}, inputs: [words]},"
      " {Embedding: {input_dim: 7, output_dim: 3, name: b}, inputs: [words]},"
      " {Embedding: {input_dim: 5, output_dim: 3, name: c}, inputs: [tags]},"
      " {Dense: {units: 3, name: d}, inputs: [row]}]",
      {"d", "b", "a", "c", "d"});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->inputs, ElementsAre(0, 1, 2));
  EXPECT_THAT(graph->outputs, ElementsAre(6, 4, 3, 5, 6));
  EXPECT_EQ(graph->input_shape(2), (Shape{2}));
  EXPECT_EQ(graph->output_shape(1), (Shape{4, 3}));
  EXPECT_EQ(FeatureIdCount(*graph, 0), 7);
  EXPECT_EQ(FeatureIdCount(*graph, 1), 0);
  EXPECT_EQ(FeatureIdCount(*graph, 2), 5);
  EXPECT_EQ(ReaderCount(*graph, 0), 2);
  EXPECT_EQ(ReaderCount(*graph, 6), 2);
}

TEST(GraphTest, OutputsAreThoseThatAreNamed) {
  const std::string layers =
      "[Input: {shape: [4]}, Dense: {units: 3, name: first},"
      " Dense: {units: 2, name: second}]";
  const auto error = [&](const std::vector<std::string>& outputs) {
    return std::string(GraphOf(layers, outputs).status().message());
  };
  EXPECT_EQ(error({"first", "second"}), "");
  EXPECT_THAT(error({"second", "frist"}),
              HasSubstr("model.outputs[1]: \"frist\" is no layer of the model; "
                        "did you mean"));
  EXPECT_THAT(error({"first"}),
              HasSubstr("Dense \"second\": no layer reads its output; the "
                        "model's is that of \"first\""));
}

TEST(GraphTest, FrozenLayersKeepTheirVariables) {
  const auto graph = GraphOf(
      "[Input: {shape: [4]}, Dense: {units: 2, kernel_regularizer: l2,"
      " trainable: false}, BatchNormalization: {center: false}, "
      " BatchNormalization: {synchronized: true, trainable: false}]");
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::vector<VariableUpdate> updates;
  for (const VariableSpec& variable : graph->variables) {
    updates.push_back(variable.update);
  }
  using enum VariableUpdate;
  EXPECT_THAT(updates, ElementsAre(kNone, kNone, kGradient, kDelta, kDelta,
                                   kNone, kNone, kNone, kNone));
  EXPECT_EQ(graph->variables[0].regularizer.l2, 0);
  EXPECT_THAT(SynchronizedChannels(*graph), ElementsAre());
}

TEST(GraphTest, BoundsWhatALayerReads) {
  const auto read = [](int count) {
    std::string names = "a";
    for (int i = 1; i < count; ++i) names += ", a";
    return GraphOf("[Input: {shape: [1], name: a}, {Add: {}, inputs: [" +
                   names + "]}]")
        .status();
  };
  EXPECT_TRUE(read(limits::kMaxLayerInputs).ok());
  const absl::Status status = read(limits::kMaxLayerInputs + 1);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("expected the names of at most 1000 layers, got 1001"));
}

TEST(GraphTest, NamesOnlyEarlierLayers) {
  const absl::Status status =
      GraphOf(
          "[Input: {shape: [2], name: first}, {Dense: {units: 2}, inputs:"
          " [last]}, Dense: {units: 2, name: last}]")
          .status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("\"last\" is no layer before this one"));
}

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
        BadModel{"[Input: {shape: [4, 1]}, Conv1D: {filters: 1,"
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
        // Shapes that would overflow.
        BadModel{"[Input: {shape: [4000000000, 4000000000, 4000000000]}, "
                 "Flatten: {}]",
                 kInvalid, "model.layers[0]", "elements"},
        BadModel{"[Input: {shape: [1000000]}, Dense: {units: 1000000000}]",
                 kInvalid, "model.layers[1]", "elements"},
        BadModel{"[Input: {shape: [1, 1, 1, 1, 1, 1, 1, 1, 1]}, Flatten: {}]",
                 kInvalid, "model.layers[0]", "dimensions"}));

TEST(LayerTest, WritesWhatItReads) {
  const auto read = Conv2D::Fields().Read(
      Yaml("{filters: 4, kernel_size: [3, 2], padding: same, activation: swish,"
           " kernel_regularizer: {L1: {l1: 0.5}}, bias_initializer: ones}"),
      Path());
  ASSERT_TRUE(read.ok()) << read.status();
  const Value written = Conv2D::Fields().Write(*read);
  EXPECT_EQ(*written.Find("activation"), Value("silu"));
  const auto again = Conv2D::Fields().Read(written, Path());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(Conv2D::Fields().Write(*again) == written);
  EXPECT_EQ(again->kernel_regularizer.l1, 0.5);
  EXPECT_EQ(again->kernel_size, (std::array<int64_t, 2>{3, 2}));
}

TEST(LayerTest, RegularizersByName) {
  const auto dense = Dense::Fields().Read(
      Yaml("{units: 1, kernel_regularizer: l2, bias_regularizer: null}"),
      Path());
  ASSERT_TRUE(dense.ok()) << dense.status();
  EXPECT_EQ(dense->kernel_regularizer.l2, 0.01);
  EXPECT_EQ(dense->bias_regularizer.l2, 0);
  const auto bad = Dense::Fields().Read(
      Yaml("{units: 1, kernel_regularizer: l3}"), Path("dense"));
  EXPECT_EQ(bad.status().code(), kInvalid);
  EXPECT_THAT(std::string(bad.status().message()),
              HasSubstr("dense.kernel_regularizer"));
}

}  // namespace
}  // namespace paceline
