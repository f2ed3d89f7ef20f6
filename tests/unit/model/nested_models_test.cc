// Models in models, and layers that are called again.
#include <string>

#include "absl/strings/str_cat.h"
#include "common/limits.h"
#include "common/model/build_graph.h"
#include "common/model/layers/dropout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/testing.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(NestedModels, AModelInAModelIsReplacedByItsLayers) {
  const auto graph = GraphOf(
      "[Input: {shape: [4], name: start}, Dense: {units: 3},"
      " {Model: {trainable: false, layers: [Input: {shape: [4], name: left},"
      " Input: {shape: [3], name: right}, {Dense: {units: 3}, inputs: [left]},"
      " {Add: {}, inputs: [dense, right]}]}, inputs: [start, dense]},"
      " Model: {name: head, layers: [Input: {shape: [3]},"
      " Model: {layers: [Input: {shape: [3]}, Dense: {units: 2}]}]}]");
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::vector<std::string> names;
  for (const Node& node : graph->nodes) names.push_back(node.layer->name);
  EXPECT_THAT(names, ElementsAre("start", "dense", "functional/dense",
                                 "functional/add", "head/sequential/dense"));
  EXPECT_THAT(graph->nodes[2].inputs, ElementsAre(0));
  EXPECT_THAT(graph->nodes[3].inputs, ElementsAre(2, 1));
  EXPECT_THAT(graph->nodes[4].inputs, ElementsAre(3));
  EXPECT_THAT(graph->inputs, ElementsAre(0));
  EXPECT_THAT(graph->outputs, ElementsAre(4));
  EXPECT_EQ(graph->variables[2].name, "functional/dense/kernel");
  EXPECT_EQ(graph->variables[2].update, VariableUpdate::kNone);
  EXPECT_EQ(graph->variables[4].name, "head/sequential/dense/kernel");
  EXPECT_EQ(graph->variables[4].update, VariableUpdate::kGradient);
}

TEST(NestedModels, FurtherCallsShareVariables) {
  const auto graph = GraphOf(
      "[Input: {shape: [4, 3], name: in}, Dense: {units: 3},"
      " {Call: {layer: dense, name: again}, inputs: [in]}, Call: {layer: "
      "dense},"
      " Model: {name: m, layers: [Input: {shape: [4, 3]}, Dense: {units: 3}]},"
      " Call: {layer: m}, {Add: {}, inputs: [m, dense, m/1]}]");
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ(graph->nodes.size(), 7u);
  EXPECT_EQ(graph->nodes[1].layer, graph->nodes[3].layer);
  EXPECT_THAT(graph->nodes[2].inputs, ElementsAre(0));
  EXPECT_THAT(graph->nodes[3].inputs, ElementsAre(2));
  for (const int node : {1, 2, 3}) {
    EXPECT_THAT(graph->nodes[node].variables, ElementsAre(0, 1));
  }
  EXPECT_THAT(graph->nodes[5].inputs, ElementsAre(4));
  EXPECT_THAT(graph->nodes[4].variables, ElementsAre(2, 3));
  EXPECT_THAT(graph->nodes[5].variables, ElementsAre(2, 3));
  EXPECT_EQ(graph->variables.size(), 4u);
  EXPECT_EQ(graph->tree.children[3].name, "dense/1");
  EXPECT_FALSE(graph->tree.is_sequential);
}

TEST(NestedModels, ALayerNamesOneOfSeveralOutputs) {
  const auto graph = GraphOf(
      "[Input: {shape: [4], name: in},"
      " {Model: {name: m, outputs: [a, b, a], layers: [Input: {shape: [4]},"
      " Dense: {units: 4, name: a}, Dense: {units: 2, name: b}]}, inputs: "
      "[in]},"
      " {Call: {layer: m}, inputs: [\"m:2\"]},"
      " {Concatenate: {}, inputs: [\"m:1\", m, m/1, \"m/1:1\"]}]");
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ(graph->nodes.size(), 6u);
  EXPECT_THAT(graph->nodes[3].inputs, ElementsAre(1));
  EXPECT_THAT(graph->nodes[5].inputs, ElementsAre(2, 1, 3, 4));
  EXPECT_EQ(graph->tree.children[1].class_name(), "Functional");
}

TEST(NestedModels, ALayerMayHaveTheNameOfAnOutput) {
  const auto graph = GraphOf(
      "[Input: {shape: [4]}, Dense: {units: 4, name: \"a:1\"},"
      " {Dense: {units: 2}, inputs: [\"a:1\"]}]");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->nodes[2].inputs, ElementsAre(1));
}

// Each call of a Dropout draws anew.
TEST(NestedModels, CallsAreNumbered) {
  const auto graph = GraphOf(
      "[Input: {shape: [4], name: in}, Dropout: {rate: 0.5, name: d},"
      " {Call: {layer: d}, inputs: [in]}, {Add: {}, inputs: [d, d/1]}]");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes[1].call, 0);
  EXPECT_EQ(graph->nodes[2].call, 1);
  const auto& dropout = dynamic_cast<const Dropout&>(*graph->layers[1]);
  EXPECT_NE(dropout.NoiseKey(7, 0), dropout.NoiseKey(7, 1));
}

// Models that call models twice would multiply their layers by two each.
TEST(NestedModels, BoundsTheCallsOfLayers) {
  std::string layers = "[Input: {shape: [2]}, Dense: {units: 2}";
  for (int i = 0; i < 40; ++i) layers += ", Call: {layer: dense}";
  layers += "]";
  for (int i = 0; i < limits::kMaxModelNesting; ++i) {
    layers =
        absl::StrCat("[Input: {shape: [2]}, Model: {name: m, layers: ", layers,
                     "}, Call: {layer: m}, Call: {layer: m}]");
  }
  const absl::Status status = GraphOf(layers).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("more than 10000 calls of layers"));
}

TEST(NestedModels, BoundsTheNestingOfModels) {
  const auto nested = [](int models) {
    std::string layers = "[Input: {shape: [2]}, Dense: {units: 2}]";
    for (int i = 0; i < models; ++i) {
      layers =
          absl::StrCat("[Input: {shape: [2]}, Model: {layers: ", layers, "}]");
    }
    // As it reaches a task.
    v1::Model sent;
    CHECK(sent.ParseFromString(ModelOf(layers).SerializeAsString()));
    return BuildGraph(sent).status();
  };
  EXPECT_EQ(nested(limits::kMaxModelNesting), absl::OkStatus());
  const absl::Status status = nested(limits::kMaxModelNesting + 1);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("models are nested in more than 8 models"));
}

TEST(NestedModels, ErrorsNameTheLayerAndTheReason) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
  struct {
    const char* layers;
    absl::StatusCode code;
    // Both in the message.
    const char* path;
    const char* reason;
  } const cases[] = {
      {"[Input: {shape: [2]}, Model: {name: m}]", kInvalid,
       "model.layers[1].layers", "missing"},
      {"[Input: {shape: [2]}, Model: {layers: [Input: {shape: [3]},"
       " Dense: {units: 2}]}]",
       kInvalid, "model.layers[1].layers[0]",
       "expected shape (3,), the model reads a layer of shape (2,)"},
      {"[Input: {shape: [2], name: a}, {Model: {layers: [Input:"
       " {shape: [2]}, Dense: {units: 2}]}, inputs: [a, a]}]",
       kInvalid, "model.layers[1].inputs",
       "expected the names of 1 layer, as many as the model has "
       "Inputs, got 2"},
      {"[Input: {shape: [2]}, Model: {layers: [Input: {shape: [2],"
       " name: a}, Dense: {units: 2}, {Dense: {units: 2}, inputs:"
       " [a]}]}]",
       kInvalid, "model.layers[1].layers[1]",
       "Dense \"dense\": no layer reads its output"},
      {"[Input: {shape: [2]}, Dense: {units: 2, name: m}, Model:"
       " {name: m, layers: [Input: {shape: [2]}, ReLU: {}]}]",
       kInvalid, "model.layers[2].name", "earlier layer too"},
      {"[Input: {shape: [2]}, Dense: {units: 2}, Model: {layers:"
       " [Input: {shape: [2]}, Embedding: {input_dim: 3, output_dim:"
       " 3}]}]",
       kInvalid, "model.layers[2].layers[1].inputs",
       "ids come from an Input only, not from \"dense\""},
      {"[Input: {shape: [2]}, Model: {name: m, outputs: [a, b], layers: "
       "[Input: {shape: [2]}, Dense: {units: 2, name: a}, Dense: {units: 2, "
       "name: b}]}, Dense: {units: 2}]",
       kInvalid, "model.layers[2].inputs",
       "missing; \"m\" has 2 outputs, expected names such as \"m:0\""},
      {"[Input: {shape: [2]}, Model: {name: m, outputs: [a, b], layers: "
       "[Input: {shape: [2]}, Dense: {units: 2, name: a}, Dense: {units: 2, "
       "name: b}]}]",
       kInvalid, "model.outputs", "missing; \"m\" has 2 outputs"},
      {"[Input: {shape: [2]}, Dense: {units: 2}, {ReLU: {}, inputs: "
       "[\"dense:1\"]}]",
       kInvalid, "model.layers[2].inputs[0]",
       "is output 1 of Dense \"dense\", which has 1 output"},
      {"[Input: {shape: [2]}, Dense: {units: 2}, {ReLU: {}, inputs: "
       "[\"dense:99999999999\"]}]",
       kInvalid, "model.layers[2].inputs[0]", "is no layer before"},
      {"[Input: {shape: [2]}, Model: {outputs: [b], layers: [Input: "
       "{shape: [2]}, Dense: {units: 2}]}]",
       kInvalid, "model.layers[1].outputs[0]", "\"b\" is no layer of the"},
      {"[Input: {shape: [2]}, Dense: {units: 2, name: m/dense}]", kInvalid,
       "model.layers[1].name", "\"m/dense\" has a \"/\""},
      {"[Input: {shape: [2]}, Call: {layer: \"\"}]", kInvalid,
       "model.layers[1].layer", "\"\" is no layer before"},
      {"[Input: {shape: [2]}, Call: {layer: dens}]", kInvalid,
       "model.layers[1].layer", "\"dens\" is no layer before"},
      {"[Input: {shape: [2], name: in}, Call: {layer: in}]", kInvalid,
       "model.layers[1].layer", "\"in\" is an Input"},
      {"[Input: {shape: [2]}, Dense: {units: 2}, Call: {layer: dense,"
       " name: c}, Call: {layer: c}]",
       kInvalid, "model.layers[3].layer", "\"c\" is a Call"},
      {"[Input: {shape: [2]}, Dense: {units: 3}, Call: {layer:"
       " dense}]",
       kInvalid, "model.layers[2]",
       "its first call needs dense/kernel of shape (2, 3), this one "
       "of shape (3, 3)"},
      {"[Input: {shape: [2]}, BatchNormalization: {name: n}, Call:"
       " {layer: n}]",
       kUnimplemented, "model.layers[2]",
       "a layer with moving statistics that is called twice"}};
  for (const auto& [layers, code, path, reason] : cases) {
    SCOPED_TRACE(layers);
    const absl::Status status = GraphOf(layers).status();
    EXPECT_EQ(status.code(), code);
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
    EXPECT_THAT(std::string(status.message()), HasSubstr(reason));
  }
}

}  // namespace
}  // namespace paceline
