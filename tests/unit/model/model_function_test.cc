#include "common/model/model_function.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/model/losses/mean_squared_error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/testing.h"

namespace paceline {
namespace {

// Of the mean squared error, for training, with two examples.
std::unique_ptr<const ModelFunction> FunctionOf(const Graph& graph) {
  const MeanSquaredError loss;
  return MakeModelFunction({.graph = &graph,
                            .outputs = {{.loss = &loss}},
                            .is_training = true,
                            .batch_size = 2,
                            .seed = 1,
                            .type = DataType::kFloat32});
}

// The number of calls up to the one that writes the tensor, and up to the last
// that reads it.
size_t WrittenAfter(const ModelFunction& model, const op::Tensor& tensor) {
  const std::vector<op::Call>& calls = model.function.calls();
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::vector<int>& outputs = calls[i].outputs;
    if (std::count(outputs.begin(), outputs.end(), tensor.id()) > 0) {
      return i + 1;
    }
  }
  return 0;
}
size_t LastReadAfter(const ModelFunction& model, const op::Tensor& tensor) {
  const std::vector<op::Call>& calls = model.function.calls();
  for (size_t i = calls.size(); i > 0; --i) {
    const std::vector<int>& inputs = calls[i - 1].inputs;
    if (std::count(inputs.begin(), inputs.end(), tensor.id()) > 0) return i;
  }
  return 0;
}

// The second kernel's gradient is there before the gradient by its layer's
// input is computed, which reads the kernel: an update in between would be seen
// by it.
TEST(ModelFunctionTest, AVariableIsReadyThenFinalAfterItsLastReader) {
  const auto graph =
      GraphOf("[Input: {shape: [4]}, Dense: {units: 3}, Dense: {units: 2}]");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto model = FunctionOf(*graph);
  const std::vector<VariableEnd> ends = VariableEnds(*model);
  ASSERT_EQ(graph->variables[2].name, "dense_1/kernel");
  const size_t written = WrittenAfter(*model, *model->updates[2]);
  const size_t read = LastReadAfter(*model, model->variables[2]);
  ASSERT_LT(written, read);
  EXPECT_EQ(ends[2].ready_after, written);
  EXPECT_EQ(ends[2].final_after, read);
  // Nothing is before the first layer, so nobody reads its kernel in backward.
  EXPECT_EQ(ends[0].final_after, WrittenAfter(*model, *model->updates[0]));
}

// So their bucket, which is the first of all, keeps no other one waiting.
TEST(ModelFunctionTest, StatisticsAreFinalBeforeBackward) {
  const auto graph = GraphOf(
      "[Input: {shape: [4]}, Dense: {units: 3}, BatchNormalization: {},"
      " Dense: {units: 2}]");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto model = FunctionOf(*graph);
  const std::vector<VariableEnd> ends = VariableEnds(*model);
  int statistics = 0;
  for (size_t i = 0; i < graph->variables.size(); ++i) {
    if (graph->variables[i].is_trained()) {
      EXPECT_GT(ends[i].ready_after, model->backward_begin)
          << graph->variables[i].name;
    } else {
      EXPECT_LE(ends[i].final_after, model->backward_begin)
          << graph->variables[i].name;
      ++statistics;
    }
  }
  EXPECT_EQ(statistics, 2);
}

TEST(ModelFunctionTest, PenaltiesOnOutputsBelongToTheLoss) {
  const auto graph = GraphOf(
      "[Input: {shape: [4]}, Dense: {units: 3, activity_regularizer: l1},"
      " Dense: {units: 2}]");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto model = FunctionOf(*graph);
  ASSERT_EQ(model->activity_penalties.size(), 1u);
  EXPECT_EQ(model->activity_penalties[0].shape(), (Shape{2}));
  const auto prediction = MakeModelFunction(
      {.graph = &*graph, .batch_size = 2, .type = DataType::kFloat32});
  EXPECT_TRUE(prediction->activity_penalties.empty());
  for (const op::Call& call : prediction->function.calls()) {
    EXPECT_NE(call.owner, "layer dense/activity_regularizer");
  }
}

TEST(ModelFunctionTest, CallsNameTheirLayers) {
  const auto graph = GraphOf("[Input: {shape: [4]}, Dense: {units: 3}]");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto model = FunctionOf(*graph);
  EXPECT_EQ(model->function.calls().front().owner, "layer dense");
  EXPECT_EQ(model->function.calls()[model->backward_begin - 1].owner, "loss");
  EXPECT_EQ(model->function.calls().back().owner, "layer dense");
}

}  // namespace
}  // namespace paceline
