#include "worker/device/program/overwriting.h"

#include <gtest/gtest.h>

#include "common/operations/binary_map.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"

namespace paceline {
namespace {

// By each call of a function, in order, what it may write over.
std::vector<int> Overwritables(const op::Function& function,
                               const std::vector<int>& allowed = {}) {
  Overwriting overwriting(function);
  for (const int parameter : allowed) overwriting.Allow(parameter);
  std::vector<int> overwritables;
  for (const op::Call& call : function.calls()) {
    overwriting.Pass(call);
    overwritables.push_back(overwriting.OverwritableBy(call));
  }
  return overwritables;
}

using Ids = std::vector<int>;

op::Tensor AddInput(op::Function& function) {
  return function.AddParameter({DataType::kFloat32, {4, 3}});
}

TEST(OverwritingTest, TheLastReaderMay) {
  op::Function function;
  const op::Tensor x = AddInput(function);
  const op::Tensor a = op::Exp(x);
  const op::Tensor b = op::Tanh(a);
  const op::Tensor c = a * b;
  function.AddResult(op::Exp(c));
  EXPECT_EQ(Overwritables(function), Ids({-1, -1, a.id(), c.id()}));
}

TEST(OverwritingTest, NobodyWritesOverResults) {
  op::Function function;
  const op::Tensor a = op::Exp(AddInput(function));
  const op::Tensor same = op::Reshape(a, {12});
  function.AddResult(same);
  function.AddResult(op::Tanh(a));
  EXPECT_EQ(Overwritables(function), Ids({-1, -1, -1}));
}

TEST(OverwritingTest, AParameterIsSomebodyElsesUnlessItIsAllowed) {
  op::Function function;
  const op::Tensor x = AddInput(function);
  const op::Tensor reshaped = op::Reshape(x, {12});
  const op::Tensor a = op::Exp(reshaped);
  function.AddResult(a);
  EXPECT_EQ(Overwritables(function), Ids({-1, -1}));
  EXPECT_EQ(Overwritables(function, {x.id()})[1], reshaped.id());
}

TEST(OverwritingTest, ConstantsAreReadAgain) {
  op::Function function;
  const op::Tensor x = function.AddParameter({DataType::kFloat32, {}});
  const op::Tensor one = op::ConstantLike(x, 1);
  function.AddResult(op::Exp(one));
  EXPECT_EQ(Overwritables(function), Ids({-1, -1}));
}

TEST(OverwritingTest, OnlyWhatHasTheOutputsType) {
  op::Function function;
  const op::Tensor a = op::Exp(AddInput(function));
  function.AddResult(op::Sum(a, {0}));
  EXPECT_EQ(Overwritables(function), Ids({-1, -1}));
}

TEST(OverwritingTest, AReaderThatNeverComesDoesNotCount) {
  op::Function function;
  const op::Tensor a = op::Exp(AddInput(function));
  const op::Tensor last = op::Tanh(a);
  function.AddResult(last);
  function.AddResult(op::Sqrt(a));
  const std::vector<op::Call>& calls = function.calls();
  Overwriting overwriting(function);
  overwriting.Pass(calls[0]);
  EXPECT_TRUE(overwriting.IsRead(a.id()));
  overwriting.Pass(calls[2]);
  overwriting.Pass(calls[1]);
  EXPECT_FALSE(overwriting.IsRead(a.id()));
  EXPECT_EQ(overwriting.OverwritableBy(calls[1]), a.id());
}

}  // namespace
}  // namespace paceline
