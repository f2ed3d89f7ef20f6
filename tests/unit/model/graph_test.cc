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

TEST(GraphTest, APenaltyOnOutputsIsANodeBehindEachCall) {
  const auto graph = GraphOf(
      "[Input: {shape: [4], name: in}, Dense: {units: 4, name: d,"
      " activity_regularizer: l1}, Call: {layer: d},"
      " ActivityRegularization: {l2: 0.5, name: a},"
      " ActivityRegularization: {name: none}]");
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::vector<std::string> names;
  for (const Node& node : graph->nodes) names.push_back(node.layer->name);
  EXPECT_THAT(names, ElementsAre("in", "d", "d/activity_regularizer", "d",
                                 "d/activity_regularizer", "a",
                                 "a/activity_regularizer", "none"));
  EXPECT_THAT(graph->nodes[2].inputs, ElementsAre(1));
  EXPECT_THAT(graph->nodes[3].inputs, ElementsAre(1));
  EXPECT_THAT(graph->nodes[4].inputs, ElementsAre(3));
  EXPECT_EQ(graph->nodes[4].output_shape, Shape());
  EXPECT_TRUE(graph->nodes[4].layer->is_penalty());
  EXPECT_THAT(graph->outputs, ElementsAre(7));
  EXPECT_EQ(graph->tree.children.size(), 5u);
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

// As in Keras, only some classes write null.
TEST(LayerTest, WritesAPenaltyOnTheOutputOnce) {
  // The values of the key that a layer with this config writes.
  const auto written = [](const auto& fields, const std::string& config) {
    std::vector<Value> values;
    const auto layer = fields.Read(Yaml(config), Path());
    EXPECT_TRUE(layer.ok()) << layer.status();
    const Value all = fields.Write(*layer);
    for (const Value::Entry& entry : all.as_map()) {
      if (entry.key == "activity_regularizer") values.push_back(entry.value);
    }
    return values;
  };
  const auto of_dense = [&written](const std::string& config) {
    return written(Dense::Fields(), config);
  };
  const auto of_convolution = [&written](const std::string& config) {
    return written(Conv2D::Fields(), config);
  };
  EXPECT_EQ(of_dense("{units: 1}").size(), 0u);
  const std::vector<Value> null =
      of_convolution("{filters: 1, kernel_size: 1}");
  ASSERT_EQ(null.size(), 1u);
  EXPECT_TRUE(null[0].is_null());
  for (const auto& values :
       {of_dense("{units: 1, activity_regularizer: l2}"),
        of_convolution("{filters: 1, kernel_size: 1,"
                       " activity_regularizer: {L2: {l2: 0.01}}}")}) {
    ASSERT_EQ(values.size(), 1u);
    EXPECT_EQ(*values[0].Find("class_name"), Value("L2"));
  }
}

TEST(GraphTest, ConstraintsBelongToTrainedVariables) {
  const std::string dense =
      "Dense: {units: 2, kernel_constraint: max_norm,"
      " bias_constraint: {UnitNorm: {axis: -1}}";
  const auto graph = GraphOf("[Input: {shape: [4]}, " + dense + "}, " + dense +
                             ", trainable: false}]");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->variables[0].constraint.class_name, "MaxNorm");
  EXPECT_EQ(graph->variables[0].constraint.max_value, 2);
  EXPECT_EQ(graph->variables[1].constraint.class_name, "UnitNorm");
  EXPECT_EQ(graph->variables[1].constraint.axis, AxisList{-1});
  EXPECT_TRUE(graph->variables[2].constraint.is_none());
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
