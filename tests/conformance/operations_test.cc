// What each operation computes on the reference device, by hand; and what
// AddGradients promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "common/operations/binary_map.h"
#include "common/operations/broadcast.h"
#include "common/operations/cast.h"
#include "common/operations/class_ids.h"
#include "common/operations/compare.h"
#include "common/operations/concatenate.h"
#include "common/operations/constant.h"
#include "common/operations/convolution.h"
#include "common/operations/gather_rows.h"
#include "common/operations/gradient.h"
#include "common/operations/map.h"
#include "common/operations/pooling.h"
#include "common/operations/random.h"
#include "common/operations/reduce.h"
#include "common/operations/resize.h"
#include "common/operations/scan.h"
#include "common/operations/select.h"
#include "common/operations/stop_gradient.h"
#include "tests/conformance/operation_fixture.h"

namespace paceline {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

using Tensors = absl::Span<const op::Tensor>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Applies a function to each value.
std::vector<double> Mapped(op::MapFunction function,
                           const std::vector<double>& values) {
  const auto size = static_cast<int64_t>(values.size());
  return Values(
      {"", {{size}}, [&](Tensors in) { return op::Map(function, in[0]); }},
      {values});
}

TEST(MapTest, ComputesItsFunctions) {
  using op::MapFunction;
  EXPECT_THAT(Mapped(MapFunction::kAbs, {-2, 3}), ElementsAre(2, 3));
  EXPECT_THAT(Mapped(MapFunction::kSign, {-2, 0, 3}), ElementsAre(-1, 0, 1));
  EXPECT_THAT(Mapped(MapFunction::kFloor, {-1.5, 1.5}), ElementsAre(-2, 1));
  EXPECT_THAT(Mapped(MapFunction::kRelu, {-1, 0, 2}), ElementsAre(0, 0, 2));
  // A plain exp(1000) would overflow.
  EXPECT_THAT(Mapped(MapFunction::kSigmoid, {-1000, 0, 1000}),
              ElementsAre(0, 0.5, 1));
  EXPECT_THAT(Mapped(MapFunction::kSoftplus, {-1000, 0, 1000}),
              ElementsAre(0, std::log(2), 1000));
}

TEST(MapTest, NanStaysNan) {
  for (int i = 0; i <= static_cast<int>(op::MapFunction::kRelu); ++i) {
    const auto function = static_cast<op::MapFunction>(i);
    EXPECT_TRUE(std::isnan(Mapped(function, {kNan})[0]))
        << op::MapFunctionName(function);
  }
}

TEST(BinaryMapTest, NanStaysNan) {
  for (int i = 0; i <= static_cast<int>(op::BinaryFunction::kMinimum); ++i) {
    const auto function = static_cast<op::BinaryFunction>(i);
    const std::vector<double> values = Values(
        {"",
         {{2}, {2}},
         [&](Tensors in) { return op::BinaryMap(function, in[0], in[1]); }},
        {{kNan, 2}, {2, kNan}});
    EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[1]))
        << op::BinaryFunctionName(function);
  }
}

TEST(BinaryMapTest, BroadcastsByNumpysRule) {
  EXPECT_THAT(
      Values({"", {{2, 1}, {3}}, [](Tensors in) { return in[0] - in[1]; }},
             {{10, 20}, {1, 2, 3}}),
      ElementsAre(9, 8, 7, 19, 18, 17));
}

TEST(BinaryMapTest, GradientOfEqualOnesGoesToTheFirst) {
  const OperationCase maximum = {
      "", {{1}, {1}}, [](Tensors in) { return op::Maximum(in[0], in[1]); }};
  EXPECT_THAT(GradientsOf(maximum, DataType::kFloat64, {{3}, {3}}, {1}),
              ElementsAre(ElementsAre(1), ElementsAre(0)));
}

TEST(MapTest, ReluHasNoGradientAtItsBend) {
  const OperationCase relu = {
      "", {{3}}, [](Tensors in) { return op::Relu(in[0]); }};
  EXPECT_THAT(GradientsOf(relu, DataType::kFloat64, {{-1, 0, 1}}, {5, 5, 5}),
              ElementsAre(ElementsAre(0, 0, 5)));
}

TEST(CompareTest, NothingHoldsOfNan) {
  for (const auto comparison :
       {op::Comparison::kLess, op::Comparison::kLessEqual,
        op::Comparison::kEqual}) {
    EXPECT_THAT(Values({"",
                        {{3}},
                        [&](Tensors in) {
                          return op::Cast(op::Compare(comparison, in[0], in[0]),
                                          in[0].data_type());
                        }},
                       {{kNan, 1, kInfinity}})[0],
                0);
  }
}

TEST(SelectTest, WhatIsNotSelectedHasNoInfluence) {
  const OperationCase select = {"", {{2}}, [](Tensors in) {
                                  return op::Select(op::Less(in[0], 1),
                                                    op::Log(in[0]), in[0] * 3);
                                }};
  EXPECT_THAT(Values(select, {{2, 1}}), ElementsAre(6, 3));
}

TEST(SelectTest, CombinesConditions) {
  const auto in_float = [](const op::Tensor& condition) {
    return op::Cast(condition, DataType::kFloat64);
  };
  EXPECT_THAT(Values({"",
                      {{4}, {4}},
                      [&](Tensors in) {
                        const op::Tensor a = op::Greater(in[0], 0);
                        const op::Tensor b = op::Greater(in[1], 0);
                        return op::Concatenate(
                            {in_float(op::And(a, b)), in_float(op::Or(a, b)),
                             in_float(op::Not(a))},
                            0);
                      }},
                     {{0, 0, 1, 1}, {0, 1, 0, 1}}),
              ElementsAre(0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0));
}

TEST(ReduceTest, KeepsTheAxesThatItReduces) {
  const OperationCase sum = {
      "", {{2, 3}}, [](Tensors in) { return op::Sum(in[0], {1}); }};
  const reference::Array output =
      Output(sum, DataType::kFloat64, {{1, 2, 3, 4, 5, 6}});
  EXPECT_EQ(output.shape(), (Shape{2, 1}));
  EXPECT_THAT(ValuesOf(output), ElementsAre(6, 15));
}

TEST(ReduceTest, MaximumKeepsNan) {
  const OperationCase max = {
      "", {{3, 2}}, [](Tensors in) { return op::Max(in[0], {1}); }};
  const std::vector<double> values =
      Values(max, {{kNan, 1, 1, kNan, -2, -kInfinity}});
  EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[1]));
  EXPECT_EQ(values[2], -2);
}

TEST(ReduceTest, EqualMaximaShareTheGradient) {
  const OperationCase max = {
      "", {{3}}, [](Tensors in) { return op::Max(in[0], {0}); }};
  EXPECT_THAT(GradientsOf(max, DataType::kFloat64, {{4, 1, 4}}, {6}),
              ElementsAre(ElementsAre(3, 0, 3)));
}

TEST(ArgMaxTest, TakesTheFirstOfEqualOnesAndNanLast) {
  EXPECT_THAT(
      Values({"", {{4, 3}}, [](Tensors in) { return op::ArgMax(in[0]); }},
             {{1, 3, 3, kNan, -1, kNan, kNan, kNan, kNan, 5, 4, kNan}}),
      ElementsAre(1, 1, 0, 0));
}

TEST(CastTest, RoundsToIntegersTowardsZero) {
  EXPECT_THAT(
      Values({"",
              {{3}},
              [](Tensors in) { return op::Cast(in[0], DataType::kInt32); }},
             {{-1.9, 0.5, 2.9}}),
      ElementsAre(-1, 0, 2));
  EXPECT_THAT(Values({"",
                      {{3}},
                      [](Tensors in) {
                        return op::Cast(op::Cast(in[0], DataType::kBool),
                                        in[0].data_type());
                      }},
                     {{-1.9, 0, 0.5}}),
              ElementsAre(1, 0, 1));
}

TEST(ConvolutionTest, PadsWithZerosAndDoesNotFlip) {
  // One row, so the vertical window has one element.
  const op::Window2D window = {op::WindowAxis{},
                               op::WindowAxis{.size = 3, .pad_before = 1}};
  EXPECT_THAT(Values({"",
                      {{1, 1, 4, 1}, {1, 3, 1, 1}},
                      [&](Tensors in) {
                        return op::Convolution(in[0], in[1], {window});
                      }},
                     {{1, 2, 3, 4}, {100, 10, 1}}),
              ElementsAre(12, 123, 234));
}

TEST(ConvolutionTest, FiltersReadTheirGroup) {
  const op::Window2D pixel = {};
  EXPECT_THAT(Values({"",
                      {{1, 1, 1, 4}, {1, 1, 2, 2}},
                      [&](Tensors in) {
                        return op::Convolution(in[0], in[1], {pixel, 2});
                      }},
                     {{1, 2, 3, 4}, {1, 10, 100, 1000}}),
              // 1 · 1 + 2 · 100, 3 · 10 + 4 · 1000.
              ElementsAre(201, 4030));
}

TEST(PoolingTest, AveragesWhatIsInTheImage) {
  const op::Window2D window = {
      op::WindowAxis{},
      op::WindowAxis{.size = 2, .stride = 2, .pad_before = 1, .pad_after = 1}};
  EXPECT_THAT(
      Values({"",
              {{1, 1, 4, 1}},
              [&](Tensors in) { return op::AveragePooling(in[0], window); }},
             {{1, 2, 4, 8}}),
      ElementsAre(1, 3, 8));
}

TEST(PoolingTest, NanIsAboveAllNumbers) {
  const op::Window2D window = {op::WindowAxis{}, op::WindowAxis{.size = 2}};
  const std::vector<double> values =
      Values({"",
              {{1, 1, 4, 1}},
              [&](Tensors in) { return op::MaxPooling(in[0], window); }},
             {{1, kNan, kInfinity, 5}});
  EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[1]));
  EXPECT_EQ(values[2], kInfinity);
}

TEST(PoolingTest, MayRectify) {
  const op::WindowAxis pairs = {.size = 2, .stride = 2};
  const OperationCase pooling = {
      "", {{1, 1, 8, 1}}, [&](Tensors in) {
        return op::AddCall(
            op::MaxPoolingOperation({op::WindowAxis{}, pairs}, true), {in[0]});
      }};
  const std::vector<double> x = {-2, -1, 0, -1, 3, 3, kNan, 5};
  const std::vector<double> values = Values(pooling, {x});
  EXPECT_TRUE(std::isnan(values.back()));
  EXPECT_THAT(std::vector(values.begin(), values.end() - 1),
              ElementsAre(0, 0, 3));
  EXPECT_THAT(GradientsOf(pooling, DataType::kFloat64, {x}, {1, 2, 4, 8}),
              ElementsAre(ElementsAre(0, 0, 0, 0, 4, 0, 0, 0)));
}

TEST(ResizeTest, BilinearStaysAtTheOutermostCenters) {
  EXPECT_THAT(
      Values({"",
              {{1, 1, 2, 1}},
              [](Tensors in) {
                return op::Resize(in[0], op::ResizeMode::kBilinear, {1, 4});
              }},
             {{0, 8}}),
      ElementsAre(0, 2, 6, 8));
}

TEST(OneHotTest, AnIdOutsideGivesZeros) {
  EXPECT_THAT(Values({"",
                      {{3}},
                      [](Tensors in) {
                        return op::OneHot(op::Cast(in[0], DataType::kInt32), 2,
                                          in[0].data_type());
                      }},
                     {{1, -1, 2}}),
              ElementsAre(0, 1, 0, 0, 0, 0));
}

TEST(SumRowsTest, AddsUpWhatHasOneId) {
  EXPECT_THAT(Values({"",
                      {{3}, {3}},
                      [](Tensors in) {
                        return op::SumRows(op::Cast(in[0], DataType::kInt32),
                                           in[1], 3);
                      }},
                     {{2, 0, 2}, {1, 10, 100}}),
              ElementsAre(10, 0, 101));
}

TEST(StopGradientTest, IsAConstant) {
  const OperationCase square = {
      "", {{1}}, [](Tensors in) { return in[0] * op::StopGradient(in[0]); }};
  EXPECT_THAT(GradientsOf(square, DataType::kFloat64, {{3}}, {1}),
              ElementsAre(ElementsAre(3)));
}

TEST(RandomTest, FollowsTheExampleNotItsPlaceInTheBatch) {
  for (const bool is_dropout : {false, true}) {
    const auto make = [is_dropout](Tensors in) {
      op::Function& function = in[0].function();
      const op::TensorType type = {DataType::kFloat64,
                                   {in[0].dimension(0), 50}};
      return is_dropout
                 ? op::Cast(op::DropoutMask(function, type.shape, 0.3, 9),
                            type.type)
                 : op::RandomNormal(function, type, 9);
    };
    const auto of = [&](int64_t first_example, int64_t count, int64_t epoch) {
      return Values({"", {{count}}, make},
                    {std::vector<double>(static_cast<size_t>(count))},
                    {first_example, epoch});
    };
    const std::vector<double> both = of(6, 2, 1);
    std::vector<double> apart = of(6, 1, 1);
    const std::vector<double> second = of(7, 1, 1);
    EXPECT_NE(apart, second);
    apart.insert(apart.end(), second.begin(), second.end());
    EXPECT_EQ(both, apart);
    EXPECT_NE(both, of(6, 2, 2));
  }
}

TEST(RandomTest, HasItsMoments) {
  constexpr int64_t kSize = 20'000;
  const auto mean_and_square = [&](const std::vector<double>& values) {
    double sum = 0;
    double squares = 0;
    for (const double value : values) {
      sum += value;
      squares += value * value;
    }
    return std::vector<double>{sum / kSize, squares / kSize};
  };
  const auto source = [&](bool is_dropout) {
    return Values(
        {"",
         {{1}},
         [is_dropout](Tensors in) {
           op::Function& function = in[0].function();
           const op::TensorType type = {DataType::kFloat64, {1, kSize}};
           return is_dropout
                      ? op::Cast(op::DropoutMask(function, type.shape, 0.25, 5),
                                 type.type)
                      : op::RandomNormal(function, type, 5);
         }},
        {{0}});
  };
  EXPECT_THAT(mean_and_square(source(false)),
              Pointwise(DoubleNear(0.03), {0.0, 1.0}));
  EXPECT_THAT(mean_and_square(source(true)),
              Pointwise(DoubleNear(0.03), {0.75, 0.75}));
}

TEST(ScanTest, CarriesItsState) {
  // Running sums, from the front and from the back.
  const auto sums = [](bool is_reversed) {
    return OperationCase{
        "", {{3}}, [is_reversed](Tensors in) {
          auto body = std::make_shared<op::Function>();
          const op::TensorType number = {in[0].data_type(), {}};
          const op::Tensor sum = body->AddParameter(number);
          const op::Tensor x = body->AddParameter(number);
          body->AddResult(sum + x);
          body->AddResult(sum + x);
          return op::Scan(
                     body,
                     {{op::ConstantLike(in[0], 0)}, {in[0]}, {}, is_reversed})
              .outputs[0];
        }};
  };
  EXPECT_THAT(Values(sums(false), {{1, 10, 100}}), ElementsAre(1, 11, 111));
  EXPECT_THAT(Values(sums(true), {{1, 10, 100}}), ElementsAre(111, 110, 100));
}

TEST(GradientTest, OfSeveralReadersIsTheirSum) {
  const OperationCase cube = {
      "", {{1}}, [](Tensors in) { return in[0] * in[0] * in[0]; }};
  EXPECT_THAT(GradientsOf(cube, DataType::kFloat64, {{2}}, {1}),
              ElementsAre(ElementsAre(12)));
}

TEST(GradientTest, OfWhatIsNotReadIsNone) {
  op::Function function;
  const op::Tensor x = function.AddParameter({DataType::kFloat64, {2}});
  const op::Tensor unread = function.AddParameter({DataType::kFloat64, {2}});
  const op::Tensor dy = function.AddParameter({DataType::kFloat64, {2}});
  const op::Gradients gradients =
      op::AddGradients({op::Exp(x)}, {dy}, {x, unread});
  EXPECT_TRUE(gradients[0].has_value());
  EXPECT_FALSE(gradients[1].has_value());
}

TEST(GradientTest, BackwardHasTheOwnersOfForward) {
  op::Function function;
  const op::Tensor x = function.AddParameter({DataType::kFloat64, {2}});
  const op::Tensor dy = function.AddParameter({DataType::kFloat64, {2}});
  function.SetOwner("layer a");
  const op::Tensor y = op::Tanh(x);
  function.SetOwner("layer b");
  const op::Tensor z = op::Sigmoid(y);
  const size_t forward = function.calls().size();
  op::AddGradients({z}, {dy}, {x});
  ASSERT_GT(function.calls().size(), forward);
  EXPECT_EQ(function.calls()[forward].owner, "layer b");
  EXPECT_EQ(function.calls().back().owner, "layer a");
}

TEST(FunctionDeathTest, ShapesMustFit) {
  op::Function function;
  const op::Tensor a = function.AddParameter({DataType::kFloat32, {2}});
  const op::Tensor b = function.AddParameter({DataType::kFloat32, {3}});
  const op::Tensor c = function.AddParameter({DataType::kInt32, {2}});
  EXPECT_DEATH(a + b, "are not broadcast");
  EXPECT_DEATH(a + c, "Add of float32 \\(2,\\) and int32 \\(2,\\)");
}

}  // namespace
}  // namespace paceline
