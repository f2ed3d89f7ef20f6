// Which node applies a rectifier, and which a pooling.
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

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsNan;
using ::testing::Not;

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

TEST(NodeFunctionTest, ALayerComputesThePoolingBehindItsRectifier) {
  const Graph graph = *GraphOf(kRectifierAndPooling);
  EXPECT_THAT(CallsOf(FunctionOf(graph, 1)),
              ElementsAre("MaxPooling", "MaxPoolingGradient"));
  EXPECT_THAT(CallsOf(FunctionOf(graph, 2)), IsEmpty());
}

TEST(NodeFunctionTest, ThePoolingStaysWhereNoneRectifies) {
  const Graph graph = *GraphOf(kRectifierAndPooling);
  EXPECT_THAT(CallsOf(FunctionOf(graph, 1, /*has_rectifying_pooling=*/false)),
              ElementsAre("Elementwise", "Elementwise"));
  EXPECT_THAT(CallsOf(FunctionOf(graph, 2, /*has_rectifying_pooling=*/false)),
              ElementsAre("MaxPooling", "MaxPoolingGradient"));
}

// Where nobody wants the gradient by the images, as in the first layer.
TEST(NodeFunctionTest, AConvolutionPoolsAsItIsComputed) {
  const Graph graph = *GraphOf(
      "[Input: {shape: [6, 6, 3]}, Conv2D: {filters: 4, kernel_size: 3,"
      " activation: relu}, MaxPooling2D: {}]");
  const auto calls_of = [&](const NodeFunctionSpec& spec) {
    return CallsOf(MakeNodeFunction(
        graph, graph.nodes[1], spec,
        [](const op::Operation& /*operation*/,
           absl::Span<const op::TensorType> /*inputs*/) { return true; }));
  };
  EXPECT_THAT(calls_of({.wants_input_gradients = false}),
              ElementsAre("PooledConvolution",
                          "PooledConvolutionKernelGradient", "Reshape"));
  EXPECT_THAT(calls_of({.is_training = false}),
              ElementsAre("PooledConvolution"));
  EXPECT_THAT(calls_of({}), Not(Contains("PooledConvolution")));
}

// Another activation, another reader, and a normalization that has done it.
TEST(NodeFunctionTest, OnlyThePoolingThatAloneReadsARectifierIsComputedBefore) {
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
      if (graph.nodes[i].layer->class_name() != "MaxPooling2D") continue;
      EXPECT_THAT(CallsOf(FunctionOf(graph, static_cast<int>(i))),
                  ElementsAre("MaxPooling", "MaxPoolingGradient"));
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
