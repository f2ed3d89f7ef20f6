// FuseRowSum: which sums are fused into products, and that the values stay the
// same.
#include "common/operations/rewrites/fuse_row_sum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "common/operations/binary_map.h"
#include "common/operations/map.h"
#include "common/operations/matrix_product.h"
#include "common/operations/reduce.h"
#include "tests/conformance/operation_fixture.h"
#include "tests/conformance/rewrite_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;

bool HasNone(const op::Operation& /*operation*/,
             absl::Span<const op::TensorType> /*inputs*/) {
  return false;
}

std::unique_ptr<op::Function> Fused(const op::Function& function,
                                    op::HasOperation has = HasAll) {
  return op::FuseRowSum(op::ReplaceCalls(function, {}), has);
}

TEST(FuseRowSumTest, ABiasGetsItsGradientFromTheKernels) {
  const WithGradients whole(BiasedProduct());
  EXPECT_THAT(NamesOf(whole.function),
              ElementsAre("MatrixProduct", "BinaryMap", "Reduce", "Reshape",
                          "MatrixProduct", "MatrixProduct"));
  const std::unique_ptr<op::Function> fused = Fused(whole.function);
  EXPECT_THAT(NamesOf(*fused),
              ElementsAre("MatrixProduct", "BinaryMap", "MatrixProduct",
                          "Reshape", "MatrixProduct"));
  EXPECT_EQ(fused->calls()[2].outputs.size(), 2u);
  EXPECT_EQ(ResultsOf(*fused, BiasedProduct()),
            ResultsOf(whole.function, BiasedProduct()));
}

TEST(FuseRowSumTest, SumsOfPixelsGoIntoConvolutions) {
  for (const int64_t groups : {1, 2}) {
    const OperationCase each = BiasedConvolution(groups);
    const WithGradients whole(each);
    const std::unique_ptr<op::Function> fused = Fused(whole.function);
    EXPECT_THAT(
        NamesOf(*fused),
        ElementsAre("Convolution", "BinaryMap", "ConvolutionKernelGradient",
                    "Reshape", "ConvolutionInputGradient"));
    EXPECT_EQ(fused->calls()[2].outputs.size(), 2u);
    EXPECT_EQ(ResultsOf(*fused, each), ResultsOf(whole.function, each));
  }
}

// Each product of a batch would have its own row sums.
TEST(FuseRowSumTest, SumsOverABatchOfProductsStay) {
  op::Function function;
  const op::Tensor x = function.AddParameter({DataType::kFloat32, {2, 3, 4}});
  const op::Tensor y = function.AddParameter({DataType::kFloat32, {2, 4, 5}});
  function.AddResult(op::MatrixProduct(x, y));
  function.AddResult(op::Sum(y, {0, 1}));
  EXPECT_THAT(NamesOf(*Fused(function)),
              ElementsAre("MatrixProduct", "Reduce"));
}

TEST(FuseRowSumTest, ADeviceMayLackIt) {
  const WithGradients whole(BiasedProduct());
  EXPECT_EQ(NamesOf(*Fused(whole.function, HasNone)), NamesOf(whole.function));
}

// A product with y, and the sums of y over `axes`. With `reads_sums` the
// product depends on the sums; otherwise it comes before them.
struct ProductAndSum {
  ProductAndSum(std::vector<int> axes, bool is_transposed, bool reads_sums) {
    const op::Tensor x = function.AddParameter({DataType::kFloat32, {4, 4}});
    const op::Tensor y = function.AddParameter({DataType::kFloat32, {4, 4}});
    const auto multiply = [&](const op::Tensor& left) {
      return op::MatrixProduct(left, y, false, is_transposed);
    };
    if (reads_sums) {
      const op::Tensor sum = op::Sum(y, axes);
      function.AddResult(sum);
      function.AddResult(multiply(x * sum));
    } else {
      function.AddResult(multiply(x));
      function.AddResult(op::Sum(y, axes));
    }
  }

  std::vector<std::string> FusedNames() const {
    const OperationCase inputs = {"product_and_sum", {{4, 4}, {4, 4}}, nullptr};
    const std::unique_ptr<op::Function> fused = Fused(function);
    EXPECT_EQ(ResultsOf(*fused, inputs), ResultsOf(function, inputs));
    return NamesOf(*fused);
  }

  op::Function function;
};

TEST(FuseRowSumTest, TheProductMayComeFirst) {
  EXPECT_THAT(ProductAndSum({0}, false, false).FusedNames(),
              ElementsAre("MatrixProduct"));
}

TEST(FuseRowSumTest, OtherSumsStay) {
  for (const std::vector<int>& axes :
       {std::vector<int>{1}, std::vector<int>{0, 1}}) {
    EXPECT_THAT(ProductAndSum(axes, false, false).FusedNames(),
                ElementsAre("MatrixProduct", "Reduce"));
  }
}

TEST(FuseRowSumTest, ATransposedSideHasOtherRows) {
  EXPECT_THAT(ProductAndSum({0}, true, false).FusedNames(),
              ElementsAre("MatrixProduct", "Reduce"));
}

TEST(FuseRowSumTest, AProductOfTheSumComesBehindIt) {
  EXPECT_THAT(ProductAndSum({0}, false, true).FusedNames(),
              ElementsAre("Reduce", "BinaryMap", "MatrixProduct"));
}

}  // namespace
}  // namespace paceline
