// Which node applies a rectifier.
#include "worker/device/program/node_function.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "common/operations/channel_normalization.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/testing.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsNan;

NodeFunction FunctionOf(const Graph& graph, int node,
                        bool has_rectifying_pooling = true) {
  return MakeNodeFunction(graph, graph.nodes[node], {},
                          [&](const op::Operation& /*operation*/,
                              absl::Span<const op::TensorType> /*inputs*/) {
                            return has_rectifying_pooling;
                          });
}

std::vector<std::string> CallsOf(const NodeFunction& function) {
  std::vector<std::string> names;
  for (const op::Call& call : function.function->calls()) {
    names.emplace_back(call.operation->name());
  }
  return names;
}

constexpr char kRectifierAndPooling[] =
    "[Input: {shape: [4, 4, 3]}, Activation: {activation: relu, name: a},"
    " MaxPooling2D: {}]";

TEST(NodeFunctionTest, ThePoolingAppliesTheRectifierBeforeIt) {
  const Graph graph = *GraphOf(kRectifierAndPooling);
  const NodeFunction rectifier = FunctionOf(graph, 1);
  EXPECT_TRUE(rectifier.leaves_rectifier);
  EXPECT_THAT(CallsOf(rectifier), IsEmpty());
  const NodeFunction pooling = FunctionOf(graph, 2);
  EXPECT_TRUE(pooling.rectifies_input);
  EXPECT_THAT(CallsOf(pooling),
              ElementsAre("MaxPooling", "MaxPoolingGradient"));
}

TEST(NodeFunctionTest, TheRectifierStaysWhereNoPoolingRectifies) {
  const Graph graph = *GraphOf(kRectifierAndPooling);
  const NodeFunction rectifier =
      FunctionOf(graph, 1, /*has_rectifying_pooling=*/false);
  EXPECT_FALSE(rectifier.leaves_rectifier);
  EXPECT_THAT(CallsOf(rectifier), ElementsAre("Elementwise", "Elementwise"));
  const NodeFunction pooling =
      FunctionOf(graph, 2, /*has_rectifying_pooling=*/false);
  EXPECT_FALSE(pooling.rectifies_input);
  EXPECT_THAT(CallsOf(pooling),
              ElementsAre("MaxPooling", "MaxPoolingGradient"));
}

// Another activation, another reader, and a normalization that has done it.
TEST(NodeFunctionTest, OnlyARectifierThatNobodyElseReadsIsLeft) {
  for (const std::string layers :
       {"[Input: {shape: [4, 4, 3]}, Activation: {activation: relu6, name: a},"
        " MaxPooling2D: {}]",
        "[Input: {shape: [4, 4, 3]}, Activation: {activation: relu, name: a},"
        " {MaxPooling2D: {strides: 1, padding: same, name: p}, inputs: [a]},"
        " {Add: {}, inputs: [p, a]}]",
        "[Input: {shape: [4, 4, 3]}, BatchNormalization: {},"
        " Activation: {activation: relu, name: a}, MaxPooling2D: {}]"}) {
    SCOPED_TRACE(layers);
    const Graph graph = *GraphOf(layers);
    for (size_t i = 1; i < graph.nodes.size(); ++i) {
      if (graph.nodes[i].layer->class_name() == "BatchNormalization") continue;
      const NodeFunction function = FunctionOf(graph, static_cast<int>(i));
      EXPECT_FALSE(function.leaves_rectifier || function.rectifies_input) << i;
    }
  }
}

// Of each call of a normalization, its ceiling.
std::vector<float> CeilingsOf(const std::string& layers) {
  const Graph graph = *GraphOf(layers);
  const NodeFunction function = FunctionOf(graph, 1);
  std::vector<float> ceilings;
  for (const op::Call& call : function.function->calls()) {
    if (!absl::StartsWith(call.operation->name(), "Channel")) continue;
    ceilings.push_back(static_cast<const op::ChannelOperation&>(*call.operation)
                           .options()
                           .clamp.ceiling);
  }
  return ceilings;
}

// Forward, sums and the gradient by the input.
TEST(NodeFunctionTest, ANormalizationAppliesTheRectifierBehindIt) {
  EXPECT_THAT(CeilingsOf("[Input: {shape: [3]}, BatchNormalization: {},"
                         " Activation: {activation: relu6}]"),
              ElementsAre(6, 6, 6));
  EXPECT_THAT(CeilingsOf("[Input: {shape: [3]}, BatchNormalization: {name: n},"
                         " Activation: {activation: relu6, name: r},"
                         " {Add: {}, inputs: [n, r]}]"),
              ElementsAre(IsNan(), IsNan(), IsNan()));
}

}  // namespace
}  // namespace paceline
