// The gradient of each operation against finite differences, on the reference
// device.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/operations/batch_moments.h"
#include "common/operations/binary_map.h"
#include "common/operations/broadcast.h"
#include "common/operations/cast.h"
#include "common/operations/channel_normalization.h"
#include "common/operations/compare.h"
#include "common/operations/concatenate.h"
#include "common/operations/constant.h"
#include "common/operations/convolution.h"
#include "common/operations/gather_rows.h"
#include "common/operations/group_normalization.h"
#include "common/operations/iota.h"
#include "common/operations/map.h"
#include "common/operations/matrix_product.h"
#include "common/operations/pad.h"
#include "common/operations/pooling.h"
#include "common/operations/random.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/resize.h"
#include "common/operations/reverse.h"
#include "common/operations/scan.h"
#include "common/operations/select.h"
#include "common/operations/slice.h"
#include "common/operations/softmax.h"
#include "common/operations/sum_over_replicas.h"
#include "common/operations/transpose.h"
#include "tests/conformance/operation_fixture.h"

namespace paceline {
namespace {

using Tensors = absl::Span<const op::Tensor>;

op::Window2D Window(int64_t size, int64_t stride, int64_t dilation,
                    int64_t before, int64_t after) {
  const op::WindowAxis axis = {size, stride, dilation, before, after};
  return {axis, axis};
}

OperationCase MapCase(op::MapFunction function, double low, double high) {
  return {std::string(op::MapFunctionName(function)),
          {{3, 4}},
          [function](Tensors in) { return op::Map(function, in[0]); },
          low,
          high};
}

OperationCase BinaryCase(op::BinaryFunction function, double low = -1) {
  return {
      std::string(op::BinaryFunctionName(function)),
      {{3, 1, 4}, {2, 1}},
      [function](Tensors in) { return op::BinaryMap(function, in[0], in[1]); },
      low};
}

op::Tensor NormalizedByBatch(const op::Tensor& x,
                             const op::GammaAndBeta& variables) {
  const op::Moments moments = op::BatchMoments(x, /*over_replicas=*/false);
  return op::NormalizeByBatch(x, moments, /*over_replicas=*/false, variables,
                              0.1);
}

OperationCase ConvolutionCase(const std::string& name, Shape input,
                              Shape kernel, const op::Window2D& window,
                              int64_t groups = 1) {
  return {name,
          {std::move(input), std::move(kernel)},
          [window, groups](Tensors in) {
            return op::Convolution(in[0], in[1], {window, groups});
          }};
}

OperationCase ProductCase(bool left, bool right) {
  return {absl::StrCat("MatrixProduct", left ? "LeftTransposed" : "",
                       right ? "RightTransposed" : ""),
          {left ? Shape{2, 4, 3} : Shape{2, 3, 4},
           right ? Shape{2, 5, 4} : Shape{2, 4, 5}},
          [left, right](Tensors in) {
            return op::MatrixProduct(in[0], in[1], left, right);
          }};
}

// (carry, x, w) → carry · w + sigmoid(x), tanh(carry) · x.
std::shared_ptr<const op::Function> SomeBody(DataType type) {
  auto body = std::make_shared<op::Function>();
  const op::Tensor carry = body->AddParameter({type, {2}});
  const op::Tensor x = body->AddParameter({type, {2}});
  const op::Tensor w = body->AddParameter({type, {2}});
  body->AddResult(carry * w + op::Sigmoid(x));
  body->AddResult(op::Tanh(carry) * x);
  return body;
}

OperationCase ScanCase(bool is_reversed) {
  return {is_reversed ? "ReversedScan" : "Scan",
          {{2}, {3, 2}, {2}},
          [is_reversed](Tensors in) {
            const op::ScanResults results =
                op::Scan(SomeBody(in[0].data_type()),
                         {{in[0]}, {in[1]}, {in[2]}, is_reversed});
            return op::Concatenate(
                {op::Reshape(results.carries[0], {1, 2}), results.outputs[0]},
                0);
          }};
}

std::vector<OperationCase> GradientCases() {
  using op::BinaryFunction;
  using op::MapFunction;
  std::vector<OperationCase> cases = {
      MapCase(MapFunction::kAbs, -1, 1),
      MapCase(MapFunction::kExp, -1, 1),
      MapCase(MapFunction::kExpm1, -1, 1),
      MapCase(MapFunction::kLog, 0.5, 2),
      MapCase(MapFunction::kLog1p, -0.5, 2),
      MapCase(MapFunction::kSqrt, 0.5, 2),
      MapCase(MapFunction::kTanh, -2, 2),
      MapCase(MapFunction::kSigmoid, -3, 3),
      MapCase(MapFunction::kSoftplus, -3, 3),
      MapCase(MapFunction::kErfc, -2, 2),
      MapCase(MapFunction::kRelu, -1, 1),
      BinaryCase(BinaryFunction::kAdd),
      BinaryCase(BinaryFunction::kSubtract),
      BinaryCase(BinaryFunction::kMultiply),
      BinaryCase(BinaryFunction::kDivide, 0.5),
      BinaryCase(BinaryFunction::kPower, 0.5),
      BinaryCase(BinaryFunction::kMaximum),
      BinaryCase(BinaryFunction::kMinimum),
      {"Select",
       {{3, 4}, {4}},
       [](Tensors in) {
         return op::Select(op::Less(in[0], in[1]), in[0] * 2, in[1]);
       }},
      {"Broadcast",
       {{3, 1}},
       [](Tensors in) {
         return op::Broadcast(in[0], {2, 3, 4});
       }},
      {"Sum",
       {{2, 3, 4}},
       [](Tensors in) {
         return op::Sum(in[0], {0, 2});
       }},
      {"Mean", {{2, 3, 4}}, [](Tensors in) { return op::Mean(in[0], {1}); }},
      {"Max",
       {{2, 3, 4}},
       [](Tensors in) {
         return op::Max(in[0], {0, 2});
       }},
      {"Reshape",
       {{2, 6}},
       [](Tensors in) {
         return op::Reshape(in[0], {3, 4});
       }},
      {"Transpose",
       {{2, 3, 4}},
       [](Tensors in) {
         return op::Transpose(in[0], {2, 0, 1});
       }},
      {"Reverse", {{2, 3}}, [](Tensors in) { return op::Reverse(in[0], 1); }},
      {"Pad",
       {{2, 3}},
       [](Tensors in) {
         return op::Pad(in[0], {{1, 0}, {0, 2}}, 7);
       }},
      {"Slice",
       {{3, 4}},
       [](Tensors in) {
         return op::Slice(in[0], {1, 0}, {2, 3});
       }},
      {"Concatenate",
       {{2, 3}, {2, 1}},
       [](Tensors in) {
         return op::Concatenate({in[0], in[1], in[0]}, -1);
       }},
      {"Cast",
       {{3}},
       [](Tensors in) {
         return op::Cast(op::Cast(in[0], DataType::kFloat64) * 2,
                         in[0].data_type());
       }},
      ProductCase(false, false),
      ProductCase(false, true),
      ProductCase(true, false),
      ProductCase(true, true),
      {"ProductOfItself",
       {{3, 3}},
       [](Tensors in) { return op::MatrixProduct(in[0], in[0]); }},
      ConvolutionCase("Convolution", {2, 4, 5, 3}, {3, 3, 3, 2},
                      Window(3, 1, 1, 1, 1)),
      ConvolutionCase("StridedConvolution", {2, 6, 5, 2}, {2, 2, 2, 3},
                      Window(2, 2, 1, 0, 1)),
      ConvolutionCase("DilatedConvolution", {1, 6, 6, 1}, {2, 2, 1, 2},
                      Window(2, 1, 3, 0, 0)),
      ConvolutionCase("GroupedConvolution", {2, 3, 3, 4}, {2, 2, 2, 6},
                      Window(2, 1, 1, 0, 0), 2),
      ConvolutionCase("DepthwiseConvolution", {2, 3, 3, 3}, {3, 3, 1, 6},
                      Window(3, 1, 1, 1, 1), 3),
      {"ConvolutionKernelGradient",
       {{2, 4, 4, 2}, {2, 2, 2, 3}},
       [](Tensors in) {
         return op::ConvolutionKernelGradient(in[0], in[1],
                                              {Window(3, 2, 1, 1, 0)});
       }},
      {"MaxPooling",
       {{2, 5, 5, 2}},
       [](Tensors in) { return op::MaxPooling(in[0], Window(3, 2, 1, 1, 1)); }},
      {"RectifyingMaxPooling",
       {{2, 5, 5, 2}},
       [](Tensors in) {
         return op::AddCall(
             op::MaxPoolingOperation(Window(2, 1, 1, 0, 0), true), {in[0]});
       }},
      {"AveragePooling",
       {{2, 5, 5, 2}},
       [](Tensors in) {
         return op::AveragePooling(in[0], Window(3, 2, 1, 1, 1));
       }},
      {"ResizeToMore",
       {{1, 2, 3, 2}},
       [](Tensors in) {
         return op::Resize(in[0], op::ResizeMode::kBilinear, {5, 6});
       }},
      {"ResizeToLess",
       {{1, 5, 6, 2}},
       [](Tensors in) {
         return op::Resize(in[0], op::ResizeMode::kBilinear, {2, 3});
       }},
      {"ResizeToNearest",
       {{1, 2, 3, 2}},
       [](Tensors in) {
         return op::Resize(in[0], op::ResizeMode::kNearest, {4, 7});
       }},
      {"BatchMoments",
       {{2, 3, 4}},
       [](Tensors in) {
         const op::Moments moments = op::BatchMoments(in[0], false);
         const DataType type = in[0].data_type();
         const op::Tensor mean = op::Cast(moments.mean, type);
         const op::Tensor variance = op::Cast(moments.variance, type);
         return (in[0] - mean) / op::Sqrt(variance + 0.1);
       }},
      {"BatchVariance",
       {{5, 2}},
       [](Tensors in) {
         return op::Cast(op::BatchMoments(in[0], false).variance,
                         in[0].data_type());
       }},
      {"ChannelNormalizationByGivenNumbers",
       {{3, 2, 4}, {4}, {4}},
       [](Tensors in) {
         const auto numbers = [&in](std::vector<double> values) {
           return op::Constants(in[0].function(), in[0].data_type(),
                                std::move(values));
         };
         const op::Tensor mean = numbers({0.1, 0, -0.2, 0.3});
         const op::Tensor variance = numbers({1, 0.5, -1, 2});
         return op::NormalizeChannels(in[0], mean, variance, {in[1], in[2]},
                                      0.1);
       }},
      {"ChannelNormalizationByTheBatch",
       {{3, 2, 4}, {4}, {4}},
       [](Tensors in) {
         return NormalizedByBatch(in[0], {in[1], in[2]});
       }},
      {"ChannelNormalizationWithoutBeta",
       {{3, 2, 4}, {4}},
       [](Tensors in) {
         return NormalizedByBatch(in[0], {.gamma = in[1], .beta = {}});
       }},
      {"ChannelNormalizationWithoutGamma",
       {{3, 2, 4}, {4}},
       [](Tensors in) {
         return NormalizedByBatch(in[0], {.gamma = {}, .beta = in[1]});
       }},
      {"ChannelNormalizationWithinAClamp",
       {{3, 2, 4}, {4}, {4}},
       [](Tensors in) {
         return op::ClampNormalization(NormalizedByBatch(in[0], {in[1], in[2]}),
                                       {.floor = -0.25f, .ceiling = 0.5f});
       }},
      {"GroupNormalization",
       {{2, 3, 6}, {6}, {6}},
       [](Tensors in) {
         return op::GroupNormalization(in[0], in[1], in[2], 3, 0.1);
       }},
      {"GroupNormalizationWithGamma",
       {{2, 3, 4}, {4}},
       [](Tensors in) {
         return op::GroupNormalization(in[0], in[1], {}, 2, 0.1);
       }},
      {"GroupNormalizationWithBeta",
       {{4, 1, 5}, {5}},
       [](Tensors in) {
         return op::GroupNormalization(in[0], {}, in[1], 1, 0.1);
       }},
      {"Softmax", {{3, 4}}, [](Tensors in) { return op::Softmax(in[0]); }},
      {"LogSoftmax",
       {{3, 4}},
       [](Tensors in) { return op::LogSoftmax(in[0]); }},
      {"SoftmaxAlongAnAxis",
       {{2, 3, 2}},
       [](Tensors in) { return op::Softmax(in[0], 1); }},
      {"LogSoftmaxAlongAnAxis",
       {{2, 3, 2}},
       [](Tensors in) { return op::LogSoftmax(in[0], 1); }},
      {"SoftmaxGradient",
       {{3, 4}, {3, 4}},
       [](Tensors in) {
         return op::AddCall(op::SoftmaxGradientOperation(1), {in[0], in[1]});
       }},
      {"LogSoftmaxGradient",
       {{3, 4}, {3, 4}},
       [](Tensors in) {
         return op::AddCall(op::LogSoftmaxGradientOperation(1), {in[0], in[1]});
       }},
      {"GatherRows",
       {{3, 2}},
       [](Tensors in) {
         const op::Tensor ids = op::Iota(in[0].function(), 2, DataType::kInt32);
         return op::GatherRows(in[0], op::Concatenate({ids, ids}, 0));
       }},
      {"SumRows",
       {{2, 3}},
       [](Tensors in) {
         const op::Tensor ids =
             op::Iota(in[0].function(), 2, DataType::kInt32) * 2;
         return op::SumRows(ids, in[0], 4);
       }},
      {"DropoutMask",
       {{2, 8}},
       [](Tensors in) {
         return op::Select(
             op::DropoutMask(in[0].function(), in[0].shape(), 0.4, 7),
             in[0] * 3, op::ConstantLike(in[0], 0));
       }},
      {"SumOverReplicas",
       {{3}},
       [](Tensors in) { return op::SumOverReplicas(in[0] * in[0]); }},
      ScanCase(false),
      ScanCase(true),
  };
  return cases;
}

class OperationGradientTest : public ::testing::TestWithParam<OperationCase> {};

TEST_P(OperationGradientTest, IsThatOfFiniteDifferences) {
  ExpectGradients(GetParam());
}

INSTANTIATE_TEST_SUITE_P(, OperationGradientTest,
                         ::testing::ValuesIn(GradientCases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace paceline
