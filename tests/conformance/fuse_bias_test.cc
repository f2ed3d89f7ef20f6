// FuseBias: which biases are fused into products, and that the values stay the
// same.
#include "common/operations/rewrites/fuse_bias.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "common/operations/binary_map.h"
#include "common/operations/convolution.h"
#include "common/operations/map.h"
#include "common/operations/matrix_product.h"
#include "common/operations/reshape.h"
#include "common/operations/rewrites/fuse_maps.h"
#include "tests/conformance/operation_fixture.h"
#include "tests/conformance/rewrite_fixture.h"

namespace paceline {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

bool HasNoBias(const op::Operation& operation,
               absl::Span<const op::TensorType> /*inputs*/) {
  return !static_cast<const op::MatrixProductOperation&>(operation)
              .options()
              .has_bias;
}

// The rewritten function of a case, without gradients. Checks that it computes
// the same.
std::unique_ptr<op::Function> WithBiases(const OperationCase& each,
                                         op::HasOperation has = HasAll) {
  op::Function function;
  std::vector<op::Tensor> inputs;
  for (const Shape& shape : each.inputs) {
    inputs.push_back(function.AddParameter({DataType::kFloat32, shape}));
  }
  function.AddResult(each.make(inputs));
  std::unique_ptr<op::Function> fused =
      op::FuseBias(op::FuseMaps(function), has);
  EXPECT_EQ(ResultsOf(*fused, each), ResultsOf(function, each));
  return fused;
}

TEST(FuseBiasTest, ABiasGoesIntoTheProduct) {
  EXPECT_THAT(NamesOf(*WithBiases(BiasedProduct())),
              ElementsAre("MatrixProduct"));
  const OperationCase first = {
      "bias_first", {{4, 3}, {5, 3}, {5}}, [](auto inputs) {
        const op::Tensor product =
            op::MatrixProduct(inputs[0], inputs[1], false, true);
        return inputs[2] + product;
      }};
  EXPECT_THAT(NamesOf(*WithBiases(first)), ElementsAre("MatrixProduct"));
}

TEST(FuseBiasTest, EachProductOfABatchGetsIt) {
  const OperationCase batch = {
      "batch", {{2, 4, 3}, {2, 3, 5}, {5}}, BiasedProduct().make};
  EXPECT_THAT(NamesOf(*WithBiases(batch)), ElementsAre("MatrixProduct"));
}

// The options of the function's first call, a convolution.
op::ConvolutionOptions OptionsOf(const op::Function& function) {
  return static_cast<const op::ConvolutionOperation&>(
             *function.calls()[0].operation)
      .options();
}

TEST(FuseBiasTest, ABiasGoesIntoTheConvolution) {
  for (const int64_t groups : {1, 2}) {
    const auto fused = WithBiases(BiasedConvolution(groups));
    ASSERT_THAT(NamesOf(*fused), ElementsAre("Convolution"));
    EXPECT_TRUE(OptionsOf(*fused).has_bias);
    EXPECT_FALSE(OptionsOf(*fused).rectifies);
  }
}

// A convolution with bias, and a map of its output.
OperationCase ActivatedConvolution(op::MapFunction function) {
  OperationCase each = BiasedConvolution(1);
  each.make = [function, make = each.make](auto inputs) {
    return op::Map(function, make(inputs));
  };
  return each;
}

TEST(FuseBiasTest, ARectifierGoesIntoTheConvolution) {
  const auto fused = WithBiases(ActivatedConvolution(op::MapFunction::kRelu));
  ASSERT_THAT(NamesOf(*fused), ElementsAre("Convolution"));
  EXPECT_TRUE(OptionsOf(*fused).has_bias);
  EXPECT_TRUE(OptionsOf(*fused).rectifies);

  OperationCase unbiased = BiasedConvolution(1);
  unbiased.make = [](auto inputs) {
    return op::Relu(op::Convolution(inputs[0], inputs[1], {{{{3}, {2}}}}));
  };
  const auto rectified = WithBiases(unbiased);
  ASSERT_THAT(NamesOf(*rectified), ElementsAre("Convolution"));
  EXPECT_FALSE(OptionsOf(*rectified).has_bias);
  EXPECT_TRUE(OptionsOf(*rectified).rectifies);
}

TEST(FuseBiasTest, AConvolutionThatSomebodyElseReadsStays) {
  OperationCase shared = BiasedConvolution(1);
  shared.make = [](auto inputs) {
    const op::Tensor c = op::Convolution(inputs[0], inputs[1], {{{{3}, {2}}}});
    const op::Tensor biased = c + inputs[2];
    return op::Reshape(c, {c.count()}) + op::Reshape(biased, {c.count()});
  };
  const auto fused = WithBiases(shared);
  EXPECT_THAT(NamesOf(*fused), Contains("Convolution"));
  EXPECT_FALSE(OptionsOf(*fused).has_bias);
}

TEST(FuseBiasTest, OnlyAVectorOfFiltersIsABiasOfAConvolution) {
  for (const Shape& shape : {Shape{1}, Shape{1, 1, 1, 6}}) {
    OperationCase other = BiasedConvolution(1);
    other.inputs[2] = shape;
    const auto fused = WithBiases(other);
    ASSERT_THAT(NamesOf(*fused), ElementsAre("Convolution", "Elementwise"))
        << ShapeToString(shape);
    EXPECT_FALSE(OptionsOf(*fused).has_bias);
  }
}

TEST(FuseBiasTest, OtherActivationsOfAConvolutionStay) {
  EXPECT_THAT(
      NamesOf(*WithBiases(ActivatedConvolution(op::MapFunction::kTanh))),
      ElementsAre("Convolution", "Elementwise"));
}

TEST(FuseBiasTest, ADeviceMayLackRectifyingConvolutions) {
  const auto has = [](const op::Operation& operation,
                      absl::Span<const op::TensorType> /*inputs*/) {
    return !static_cast<const op::ConvolutionOperation&>(operation)
                .options()
                .rectifies;
  };
  EXPECT_THAT(
      NamesOf(*WithBiases(ActivatedConvolution(op::MapFunction::kRelu), has)),
      ElementsAre("Convolution", "Elementwise"));
}

TEST(FuseBiasTest, TheDeviceHearsOfTheBias) {
  const auto has = [](const op::Operation& /*operation*/,
                      absl::Span<const op::TensorType> inputs) {
    EXPECT_EQ(inputs.size(), 3u);
    return inputs.back().shape == Shape{5};
  };
  EXPECT_THAT(NamesOf(*WithBiases(BiasedProduct(), has)),
              ElementsAre("MatrixProduct"));
}

TEST(FuseBiasTest, GradientsStay) {
  const WithGradients whole(BiasedProduct());
  const std::unique_ptr<op::Function> fused =
      op::FuseBias(op::FuseMaps(whole.function), HasAll);
  EXPECT_EQ(fused->calls().size() + 1, whole.function.calls().size());
  EXPECT_EQ(ResultsOf(*fused, BiasedProduct()),
            ResultsOf(whole.function, BiasedProduct()));
}

TEST(FuseBiasTest, ADeviceMayLackIt) {
  EXPECT_THAT(NamesOf(*WithBiases(BiasedProduct(), HasNoBias)),
              ElementsAre("MatrixProduct", "Elementwise"));
}

// The calls of a rewritten function, whose results `add_results` adds, given a
// (2, 2) product and a bias.
std::vector<std::string> NamesWithBias(
    void (*add_results)(op::Function& function, const op::Tensor& product,
                        const op::Tensor& bias)) {
  op::Function function;
  const op::Tensor x = function.AddParameter({DataType::kFloat32, {2, 2}});
  const op::Tensor bias = function.AddParameter({DataType::kFloat32, {2}});
  add_results(function, op::MatrixProduct(x, x), bias);
  return NamesOf(*op::FuseBias(op::FuseMaps(function), HasAll));
}

TEST(FuseBiasTest, AProductThatSomebodyElseReadsStays) {
  const auto add_results = [](op::Function& function, const op::Tensor& product,
                              const op::Tensor& bias) {
    function.AddResult(product);
    function.AddResult(product + bias);
  };
  EXPECT_THAT(NamesWithBias(add_results),
              ElementsAre("MatrixProduct", "Elementwise"));
}

TEST(FuseBiasTest, AProductHasOneBias) {
  const auto add_results = [](op::Function& function, const op::Tensor& product,
                              const op::Tensor& bias) {
    const op::Tensor sum = product + bias;
    // Reshape reads `sum` from memory, so FuseMaps does not merge the second
    // sum into the first.
    function.AddResult(op::Reshape(sum, {4}));
    function.AddResult(op::Reshape(sum, {2, 2}) + bias);
  };
  EXPECT_THAT(NamesWithBias(add_results),
              ElementsAre("MatrixProduct", "Reshape", "Elementwise"));
}

TEST(FuseBiasTest, AnActivationAddsTheBiasInItsPass) {
  const auto add_results = [](op::Function& function, const op::Tensor& product,
                              const op::Tensor& bias) {
    function.AddResult(op::Relu(product + bias));
  };
  EXPECT_THAT(NamesWithBias(add_results),
              ElementsAre("MatrixProduct", "Elementwise"));
}

TEST(FuseBiasTest, OnlyAVectorOfColumnsIsABias) {
  for (const Shape& shape : {Shape{4, 5}, Shape{1, 5}, Shape{4, 1}, Shape{1}}) {
    const OperationCase other = {
        "other", {{4, 3}, {3, 5}, shape}, BiasedProduct().make};
    EXPECT_THAT(NamesOf(*WithBiases(other)),
                ElementsAre("MatrixProduct", "Elementwise"))
        << ShapeToString(shape);
  }
}

}  // namespace
}  // namespace paceline
