#include "common/operations/rewrites/fuse_row_sum.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "common/operations/convolution.h"
#include "common/operations/matrix_product.h"
#include "common/operations/reduce.h"

namespace paceline::op {
namespace {

// Whether the call sums over all axes but the last.
bool IsSumOfRows(const Function& function, const Call& call) {
  if (call.operation->name() != ReduceOperation::kName) return false;
  const auto& reduce = static_cast<const ReduceOperation&>(*call.operation);
  const size_t rank = function.type(call.inputs[0]).shape.size();
  if (rank < 2) return false;
  std::vector<int> axes(rank - 1);
  std::iota(axes.begin(), axes.end(), 0);
  return reduce.reduction() == Reduction::kSum && reduce.axes() == axes;
}

// The operation with a row sum. Null: it cannot sum the rows of its second
// input, or already does.
std::shared_ptr<const Operation> WithRowSum(const Operation& operation) {
  if (operation.name() == MatrixProductOperation::kName) {
    MatrixProductOptions options =
        static_cast<const MatrixProductOperation&>(operation).options();
    if (options.right_is_transposed || options.has_row_sum) return nullptr;
    options.has_row_sum = true;
    return std::make_shared<const MatrixProductOperation>(options);
  }
  if (operation.name() == ConvolutionKernelGradientOperation::kName) {
    const auto& gradient =
        static_cast<const ConvolutionKernelGradientOperation&>(operation);
    if (gradient.has_row_sum()) return nullptr;
    return std::make_shared<const ConvolutionKernelGradientOperation>(
        gradient.parameters(), /*has_row_sum=*/true);
  }
  return nullptr;
}

class RowSumFusion {
 public:
  RowSumFusion(const Function& function, HasOperation has)
      : function_(function), has_(has), made_before_(function.tensor_count()) {
    const std::vector<Call>& calls = function.calls();
    for (size_t i = 0; i < calls.size(); ++i) {
      for (const int output : calls[i].outputs) made_before_[output] = i + 1;
    }
  }

  Replacements Run() && {
    const std::vector<Call>& calls = function_.calls();
    for (size_t sum = 0; sum < calls.size(); ++sum) {
      if (!IsSumOfRows(function_, calls[sum])) continue;
      for (size_t i = 0; i < calls.size() && !Fuse(sum, i); ++i) {
      }
    }
    return std::move(replacements_);
  }

 private:
  // Tries to fuse the two calls into one, at the position of the first. Returns
  // whether it did.
  bool Fuse(size_t sum, size_t product) {
    const Call& sum_call = function_.calls()[sum];
    const Call& product_call = function_.calls()[product];
    std::shared_ptr<const Operation> with_sum =
        WithRowSum(*product_call.operation);
    if (with_sum == nullptr || product_call.inputs[1] != sum_call.inputs[0] ||
        replacements_.contains(&product_call)) {
      return false;
    }
    const std::vector<TensorType> types =
        function_.TypesOf(product_call.inputs);
    const size_t earlier = std::min(sum, product);
    // A batched product has a sum per batch index, so its type may not match.
    if (with_sum->OutputTypes(types)[1] !=
            function_.type(sum_call.outputs[0]) ||
        !has_(*with_sum, types) ||
        !std::all_of(
            product_call.inputs.begin(), product_call.inputs.end(),
            [&](int input) { return made_before_[input] <= earlier; })) {
      return false;
    }
    replacements_[&sum_call] = std::nullopt;
    replacements_[&product_call] = std::nullopt;
    replacements_[&function_.calls()[earlier]] =
        Call{std::move(with_sum),
             product_call.inputs,
             {product_call.outputs[0], sum_call.outputs[0]},
             product_call.owner};
    return true;
  }

  const Function& function_;
  HasOperation has_;
  // By tensor: the index of the first call before which it exists.
  std::vector<size_t> made_before_;
  Replacements replacements_;
};

}  // namespace

std::unique_ptr<Function> FuseRowSum(std::unique_ptr<Function> function,
                                     HasOperation has) {
  const Replacements replacements = RowSumFusion(*function, has).Run();
  return replacements.empty() ? std::move(function)
                              : ReplaceCalls(*function, replacements);
}

}  // namespace paceline::op
