// FuseRectifiers: which rectifiers are fused into a max pooling, and that the
// values stay the same.
#include "common/operations/rewrites/fuse_rectifiers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/operations/binary_map.h"
#include "common/operations/gradient.h"
#include "common/operations/map.h"
#include "common/operations/pooling.h"
#include "common/operations/reduce.h"
#include "common/operations/rewrites/fuse_maps.h"
#include "tests/conformance/operation_fixture.h"
#include "tests/conformance/rewrite_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

using Tensors = absl::Span<const op::Tensor>;

bool IsRectifying(const op::Operation& operation) {
  if (operation.name() == op::MaxPoolingOperation::kName) {
    return static_cast<const op::MaxPoolingOperation&>(operation).rectifies();
  }
  return operation.name() == op::MaxPoolingGradientOperation::kName &&
         static_cast<const op::MaxPoolingGradientOperation&>(operation)
             .rectifies();
}

bool HasRectifying(const op::Function& function) {
  return std::any_of(
      function.calls().begin(), function.calls().end(),
      [](const op::Call& call) { return IsRectifying(*call.operation); });
}

op::Tensor Pooled(const op::Tensor& x) {
  const op::WindowAxis axis = {.size = 3, .stride = 2};
  return op::MaxPooling(x, {axis, axis});
}

OperationCase CaseOf(std::function<op::Tensor(const op::Tensor&)> make) {
  return {"images",
          {{2, 7, 5, 3}},
          [make](Tensors in) { return make(in[0]); },
          -2,
          0.5};
}

// Applies both rewrites. Checks that the function computes the same.
std::unique_ptr<op::Function> Fused(const op::Function& function,
                                    const OperationCase& each,
                                    op::HasOperation has) {
  std::unique_ptr<op::Function> fused =
      op::FuseMaps(*op::FuseRectifiers(function, has));
  EXPECT_EQ(ResultsOf(*fused, each), ResultsOf(function, each));
  return fused;
}

TEST(FuseRectifiersTest, APoolingRectifiesForwardAndBack) {
  const OperationCase each =
      CaseOf([](const op::Tensor& x) { return Pooled(op::Relu(x)); });
  const WithGradients whole(each);
  const auto fused = Fused(whole.function, each, HasAll);
  ASSERT_THAT(NamesOf(*fused), ElementsAre("MaxPooling", "MaxPoolingGradient"));
  for (const op::Call& call : fused->calls()) {
    EXPECT_TRUE(IsRectifying(*call.operation)) << call.operation->name();
    EXPECT_EQ(call.inputs[0], fused->parameters()[0]);
  }
}

TEST(FuseRectifiersTest, APoolingWithoutGradientRectifies) {
  op::Function function;
  const op::Tensor x =
      function.AddParameter({DataType::kFloat32, {2, 7, 5, 3}});
  function.AddResult(Pooled(op::Relu(x)));
  const auto fused = Fused(function, CaseOf(Pooled), HasAll);
  EXPECT_THAT(NamesOf(*fused), ElementsAre("MaxPooling"));
  EXPECT_TRUE(HasRectifying(*fused));
}

TEST(FuseRectifiersTest, TheDeviceMustComputeForwardAndBack) {
  const OperationCase each =
      CaseOf([](const op::Tensor& x) { return Pooled(op::Relu(x)); });
  const WithGradients whole(each);
  for (const std::string lacking : {"MaxPooling", "MaxPoolingGradient"}) {
    const auto fused =
        Fused(whole.function, each,
              [&](const op::Operation& operation,
                  absl::Span<const op::TensorType> /*inputs*/) {
                return !IsRectifying(operation) || operation.name() != lacking;
              });
    EXPECT_FALSE(HasRectifying(*fused)) << lacking;
    EXPECT_THAT(NamesOf(*fused),
                UnorderedElementsAre("Elementwise", "MaxPooling",
                                     "MaxPoolingGradient", "Elementwise"));
  }
}

TEST(FuseRectifiersTest, WhatOthersReadIsRectifiedBeforeThePooling) {
  for (const auto& make :
       std::vector<std::function<op::Tensor(const op::Tensor&)>>{
           // A sum or another pooling also reads the rectifier, or the pooled
           // map is not a rectifier.
           [](const op::Tensor& x) {
             const op::Tensor rectified = op::Relu(x);
             return Pooled(rectified) + op::SumAll(rectified);
           },
           [](const op::Tensor& x) {
             const op::Tensor rectified = op::Relu(x);
             const op::Tensor pooled = Pooled(rectified);
             return pooled + Pooled(rectified);
           },
           [](const op::Tensor& x) { return Pooled(op::Abs(x)); }}) {
    const OperationCase each = CaseOf(make);
    const WithGradients whole(each);
    EXPECT_FALSE(HasRectifying(*Fused(whole.function, each, HasAll)));
  }
}

TEST(FuseRectifiersTest, AResultIsRectifiedBeforeThePooling) {
  op::Function function;
  const op::Tensor x =
      function.AddParameter({DataType::kFloat32, {2, 7, 5, 3}});
  const op::Tensor rectified = op::Relu(x);
  function.AddResult(rectified);
  function.AddResult(Pooled(rectified));
  EXPECT_FALSE(HasRectifying(*Fused(function, CaseOf(Pooled), HasAll)));
}

// The fused gradient has no result for the rectifier's output, whose gradient
// is wanted here.
TEST(FuseRectifiersTest, AGradientBetweenTheTwoKeepsThemApart) {
  op::Function function;
  const op::Tensor x =
      function.AddParameter({DataType::kFloat32, {2, 7, 5, 3}});
  const op::Tensor rectified = op::Relu(x);
  const op::Tensor y = Pooled(rectified);
  const op::Tensor dy = function.AddParameter(y.type());
  function.AddResult(y);
  for (const auto& gradient : op::AddGradients({y}, {dy}, {rectified, x})) {
    function.AddResult(*gradient);
  }
  EXPECT_FALSE(HasRectifying(*Fused(function, CaseOf(Pooled), HasAll)));
}

}  // namespace
}  // namespace paceline
