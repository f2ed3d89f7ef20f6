// FusePooling: which convolutions are fused with their pooling, and that the
// values stay the same.
#include "common/operations/rewrites/fuse_pooling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/operations/binary_map.h"
#include "common/operations/convolution.h"
#include "common/operations/gradient.h"
#include "common/operations/map.h"
#include "common/operations/pooled_convolution.h"
#include "common/operations/pooling.h"
#include "common/operations/rewrites/fuse_bias.h"
#include "common/operations/rewrites/fuse_maps.h"
#include "common/operations/rewrites/fuse_rectifiers.h"
#include "common/operations/rewrites/fuse_row_sum.h"
#include "tests/conformance/operation_fixture.h"
#include "tests/conformance/rewrite_fixture.h"

namespace paceline {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

using Tensors = absl::Span<const op::Tensor>;

op::Tensor PooledByTwo(const op::Tensor& x) {
  const op::WindowAxis axis = {.size = 2, .stride = 2, .pad_after = -1};
  return op::MaxPooling(x, {axis, axis});
}

// Images (2, 7, 6, 2) by 5 filters (3, 3), which are rectified and pooled.
OperationCase PooledCase(bool has_bias) {
  OperationCase each = {"pooled", {{2, 7, 6, 2}, {3, 3, 2, 5}}, {}};
  if (has_bias) each.inputs.push_back({5});
  each.make = [has_bias](Tensors in) {
    const op::WindowAxis axis = {.size = 3, .pad_before = 1};
    const op::Tensor c = op::Convolution(in[0], in[1], {{axis, axis}});
    return PooledByTwo(op::Relu(has_bias ? c + in[2] : c));
  };
  return each;
}

// The function of a case: its output and, in training, the gradients with
// respect to the kernel and the bias, and to the images if they are wanted.
struct WholeFunction {
  WholeFunction(const OperationCase& each, bool is_training,
                bool wants_images = false) {
    std::vector<op::Tensor> parameters;
    for (const Shape& shape : each.inputs) {
      parameters.push_back(function.AddParameter({DataType::kFloat32, shape}));
    }
    const op::Tensor output = each.make(parameters);
    function.AddResult(output);
    if (!is_training) return;
    const op::Tensor gradient = function.AddParameter(output.type());
    const Tensors by = Tensors(parameters).subspan(wants_images ? 0 : 1);
    for (const std::optional<op::Tensor>& each_gradient :
         op::AddGradients({output}, {gradient}, by)) {
      function.AddResult(*each_gradient);
    }
  }

  op::Function function;
};

// Applies the rewrites of a node's function. Checks that it computes the same.
std::unique_ptr<op::Function> WithPooling(const op::Function& function,
                                          const OperationCase& each,
                                          op::HasOperation has = HasAll) {
  auto fused =
      op::FuseBias(op::FuseMaps(*op::FuseRectifiers(function, HasAll)), HasAll);
  fused = op::FusePooling(op::FuseRowSum(std::move(fused), HasAll), has);
  EXPECT_EQ(ResultsOf(*fused, each), ResultsOf(function, each));
  return fused;
}

TEST(FusePoolingTest, ForwardIsOneCallAndBackwardIsOne) {
  for (const bool has_bias : {false, true}) {
    const OperationCase each = PooledCase(has_bias);
    const WholeFunction whole(each, /*is_training=*/true);
    const auto fused = WithPooling(whole.function, each);
    const std::vector<std::string> names = NamesOf(*fused);
    EXPECT_EQ(names[0], "PooledConvolution");
    EXPECT_EQ(names[1], "PooledConvolutionKernelGradient");
    // A third call reshapes the row sums to the gradient of the bias.
    EXPECT_EQ(names.size(), has_bias ? 3u : 2u);
  }
}

TEST(FusePoolingTest, EvaluationNeedsNoPositions) {
  const OperationCase each = PooledCase(/*has_bias=*/true);
  const WholeFunction whole(each, /*is_training=*/false);
  const auto fused = WithPooling(whole.function, each);
  ASSERT_THAT(NamesOf(*fused), ElementsAre("PooledConvolution"));
  EXPECT_FALSE(static_cast<const op::PooledConvolutionOperation&>(
                   *fused->calls()[0].operation)
                   .has_positions());
}

TEST(FusePoolingTest, WhereTheGradientByTheImagesIsWantedAllStays) {
  const OperationCase each = PooledCase(/*has_bias=*/true);
  const WholeFunction whole(each, /*is_training=*/true, /*wants_images=*/true);
  EXPECT_THAT(NamesOf(*WithPooling(whole.function, each)),
              Not(Contains("PooledConvolution")));
}

TEST(FusePoolingTest, AConvolutionThatSomebodyElseReadsStays) {
  OperationCase each = PooledCase(/*has_bias=*/false);
  each.make = [](Tensors in) {
    const op::WindowAxis axis = {.size = 3};
    const op::Tensor c = op::Convolution(in[0], in[1], {{axis, axis}});
    const op::Tensor pooled = PooledByTwo(op::Relu(c));
    return pooled + PooledByTwo(c);
  };
  const WholeFunction whole(each, /*is_training=*/false);
  EXPECT_THAT(NamesOf(*WithPooling(whole.function, each)),
              Not(Contains("PooledConvolution")));
}

TEST(FusePoolingTest, ADeviceMayLackTheGradient) {
  const auto has = [](const op::Operation& operation,
                      absl::Span<const op::TensorType> /*inputs*/) {
    return operation.name() !=
           op::PooledConvolutionKernelGradientOperation::kName;
  };
  const OperationCase each = PooledCase(/*has_bias=*/true);
  EXPECT_THAT(
      NamesOf(*WithPooling(WholeFunction(each, true).function, each, has)),
      Not(Contains("PooledConvolution")));
  EXPECT_THAT(
      NamesOf(*WithPooling(WholeFunction(each, false).function, each, has)),
      ElementsAre("PooledConvolution"));
}

TEST(FusePoolingTest, TheDeviceHearsOfInputsAndPositions) {
  std::vector<size_t> input_counts;
  const auto has = [&](const op::Operation& /*operation*/,
                       absl::Span<const op::TensorType> inputs) {
    input_counts.push_back(inputs.size());
    return inputs[0].shape == Shape{2, 7, 6, 2};
  };
  const OperationCase each = PooledCase(/*has_bias=*/true);
  const WholeFunction whole(each, /*is_training=*/true);
  WithPooling(whole.function, each, has);
  EXPECT_THAT(input_counts, ElementsAre(3, 3));
}

}  // namespace
}  // namespace paceline
