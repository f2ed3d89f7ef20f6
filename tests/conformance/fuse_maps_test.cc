// FuseMaps: which chains of maps are fused, and that the values stay the same.
#include "common/operations/rewrites/fuse_maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "common/config/codec.h"
#include "common/model/activation.h"
#include "common/model/activation_operations.h"
#include "common/operations/binary_map.h"
#include "common/operations/broadcast.h"
#include "common/operations/cast.h"
#include "common/operations/class_ids.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/elementwise.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"
#include "common/operations/select.h"
#include "tests/conformance/operation_fixture.h"
#include "tests/conformance/rewrite_fixture.h"

namespace paceline {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// The rewritten function of a case with its gradients. Checks that it computes
// the same.
std::unique_ptr<op::Function> Fused(const OperationCase& each) {
  const WithGradients whole(each);
  std::unique_ptr<op::Function> fused = op::FuseMaps(whole.function);
  EXPECT_EQ(ResultsOf(*fused, each), ResultsOf(whole.function, each));
  return fused;
}

TEST(FuseMapsTest, AnActivationIsOneCallForwardAndOneBack) {
  for (const auto& each : EnumNames(ActivationFunction())) {
    SCOPED_TRACE(each.name);
    const ActivationFunction function = each.value;
    if (IsRowwise(function) || function == ActivationFunction::kLinear) {
      continue;
    }
    const std::unique_ptr<op::Function> fused = Fused(
        {each.name,
         {{3, 40}},
         [function](auto inputs) { return Activate(function, inputs[0]); },
         -4,
         4});
    EXPECT_THAT(NamesOf(*fused), ElementsAre("Elementwise", "Elementwise"));
  }
}

TEST(FuseMapsTest, BackwardReadsTheOutputWhereThatIsEnough) {
  const std::unique_ptr<op::Function> fused = Fused(
      {"sigmoid", {{5}}, [](auto inputs) { return op::Sigmoid(inputs[0]); }});
  const int dy = fused->parameters()[1];
  const int y = fused->results()[0];
  EXPECT_THAT(fused->calls()[1].inputs, ElementsAre(dy, y));
}

TEST(FuseMapsTest, IdsAreReadByTheMapsThatCompareThem) {
  op::Function function;
  const op::Tensor ids = function.AddParameter({DataType::kInt32, {4}});
  const op::Tensor x = function.AddParameter({DataType::kFloat32, {4, 3}});
  const op::Tensor is_class = op::IsClass(ids, 3, x.data_type());
  function.AddResult(op::Select(is_class, x, op::ConstantLike(x, 0)));
  const std::unique_ptr<op::Function> fused = op::FuseMaps(function);
  EXPECT_THAT(NamesOf(*fused),
              UnorderedElementsAre("Reshape", "Iota", "Elementwise"));
}

TEST(FuseMapsTest, WhatIsSmallerIsComputedOnce) {
  const auto normalize = [](auto inputs) {
    const op::Tensor deviation = op::Sqrt(inputs[1] + 1e-3);
    return inputs[0] / deviation;
  };
  op::Function function;
  const op::Tensor x = function.AddParameter({DataType::kFloat32, {6, 4}});
  const op::Tensor variance = function.AddParameter({DataType::kFloat32, {4}});
  function.AddResult(normalize(std::vector<op::Tensor>{x, variance}));
  const std::unique_ptr<op::Function> fused = op::FuseMaps(function);
  ASSERT_THAT(NamesOf(*fused), ElementsAre("Elementwise", "Elementwise"));
  EXPECT_EQ(fused->type(fused->calls()[0].outputs[0]).shape, Shape({4}));
  Fused({"normalize", {{6, 4}, {4}}, normalize, 0.5, 2});
}

TEST(FuseMapsTest, AConditionIsComputedWhereItIsRead) {
  const std::unique_ptr<op::Function> fused =
      Fused({"columns", {{6, 4}, {4}}, [](auto inputs) {
               const op::Tensor condition = op::Less(inputs[1], 0.25);
               return op::Select(condition, inputs[0], inputs[0] * 2);
             }});
  EXPECT_EQ(fused->calls()[0].operation->name(), "Elementwise");
}

TEST(FuseMapsTest, OtherOperationsReadMemory) {
  const std::unique_ptr<op::Function> fused =
      Fused({"norm", {{4, 3}}, [](auto inputs) {
               const op::Tensor square = inputs[0] * inputs[0];
               return inputs[0] / op::Sqrt(op::Sum(square, {1}) + 1);
             }});
  EXPECT_EQ(fused->calls()[0].operation->name(), "Elementwise");
  EXPECT_EQ(fused->calls()[1].operation->name(), "Reduce");
}

TEST(FuseMapsTest, ALongChainIsCut) {
  const std::unique_ptr<op::Function> many_inputs =
      Fused({"sum", std::vector<Shape>(20, Shape{2, 3}), [](auto inputs) {
               op::Tensor sum = inputs[0];
               for (size_t i = 1; i < inputs.size(); ++i) sum = sum + inputs[i];
               return sum;
             }});
  EXPECT_THAT(NamesOf(*many_inputs), Each(std::string("Elementwise")));

  const std::unique_ptr<op::Function> many_instructions =
      Fused({"iterated", {{7}}, [](auto inputs) {
               op::Tensor x = inputs[0];
               for (int i = 0; i < 60; ++i) x = op::Tanh(x) + inputs[0];
               return x;
             }});
  EXPECT_THAT(NamesOf(*many_instructions), Each(std::string("Elementwise")));

  const std::unique_ptr<op::Function> long_condition =
      Fused({"condition", {{7}, {7}}, [](auto inputs) {
               op::Tensor x = inputs[0];
               for (int i = 0; i < 20; ++i) x = op::Tanh(x) + inputs[0];
               return op::Select(op::Less(x, inputs[1]), inputs[0], inputs[1]);
             }});
  EXPECT_THAT(NamesOf(*long_condition), Each(std::string("Elementwise")));
}

TEST(FuseMapsTest, WhatNoResultNeedsIsDropped) {
  op::Function function;
  const op::Tensor x = function.AddParameter({DataType::kFloat32, {2}});
  op::SumAll(op::Exp(x));
  function.AddResult(x);
  const std::unique_ptr<op::Function> fused = op::FuseMaps(function);
  EXPECT_TRUE(fused->calls().empty());
  EXPECT_EQ(fused->results(), fused->parameters());
}

TEST(FuseMapsTest, ANumberFillsATensor) {
  op::Function function;
  const op::Tensor x = function.AddParameter({DataType::kFloat32, {2, 2}});
  function.AddResult(op::Full(function, x.type(), 3));
  const std::unique_ptr<op::Function> fused = op::FuseMaps(function);
  EXPECT_THAT(NamesOf(*fused), ElementsAre("Elementwise"));
  EXPECT_THAT(ResultsOf(*fused, {"full", {{2, 2}}, nullptr})[0], Each(3));
}

TEST(FuseMapsTest, IntegersAndBoolsInMemoryStayAsTheyAre) {
  op::Function function;
  const op::Tensor x = function.AddParameter({DataType::kFloat32, {4}});
  const op::Tensor is_positive = op::Greater(x, 0);
  function.AddResult(is_positive);
  function.AddResult(op::Cast(is_positive, DataType::kFloat32) * x);
  const std::unique_ptr<op::Function> fused = op::FuseMaps(function);
  EXPECT_THAT(NamesOf(*fused),
              ElementsAre("Constant", "Compare", "Elementwise"));
}

}  // namespace
}  // namespace paceline
