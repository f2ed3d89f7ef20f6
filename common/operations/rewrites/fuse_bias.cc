#include "common/operations/rewrites/fuse_bias.h"

#include <optional>
#include <vector>

#include "common/operations/elementwise.h"
#include "common/operations/matrix_product.h"

namespace paceline::op {
namespace {

// Of its two inputs, and nothing else.
bool IsSum(const Call& call) {
  if (call.operation->name() != ElementwiseOperation::kName) return false;
  const std::vector<ElementInstruction>& instructions =
      static_cast<const ElementwiseOperation&>(*call.operation).instructions();
  return call.inputs.size() == 2 && instructions.size() == 1 &&
         instructions[0].function == ElementFunction::kAdd;
}

// Null: it cannot have a bias, or has one.
std::shared_ptr<const Operation> WithBias(const Operation& operation) {
  if (operation.name() != MatrixProductOperation::kName) return nullptr;
  MatrixProductOptions options =
      static_cast<const MatrixProductOperation&>(operation).options();
  if (options.has_bias) return nullptr;
  options.has_bias = true;
  return std::make_shared<const MatrixProductOperation>(options);
}

class BiasFusion {
 public:
  BiasFusion(const Function& function, HasOperation has)
      : function_(function),
        has_(has),
        makers_(function.tensor_count()),
        read_counts_(function.tensor_count()) {
    for (const Call& call : function.calls()) {
      for (const int output : call.outputs) makers_[output] = &call;
      for (const int input : call.inputs) ++read_counts_[input];
    }
    for (const int result : function.results()) ++read_counts_[result];
  }

  std::unique_ptr<Function> Run() && {
    for (const Call& call : function_.calls()) {
      if (!IsSum(call)) continue;
      if (!Fuse(call, call.inputs[0], call.inputs[1])) {
        Fuse(call, call.inputs[1], call.inputs[0]);
      }
    }
    return ReplaceCalls(function_, replacements_);
  }

 private:
  // Whether `sum` has become a product with the bias.
  bool Fuse(const Call& sum, int product, int bias) {
    const Call* const maker = makers_[product];
    if (maker == nullptr || read_counts_[product] > 1) return false;
    std::shared_ptr<const Operation> with_bias = WithBias(*maker->operation);
    if (with_bias == nullptr) return false;
    const TensorType& type = function_.type(product);
    if (function_.type(sum.outputs[0]) != type ||
        function_.type(bias).shape != Shape{type.shape.back()}) {
      return false;
    }
    Call fused = {std::move(with_bias), maker->inputs, sum.outputs, sum.owner};
    fused.inputs.push_back(bias);
    if (!has_(*fused.operation, function_.TypesOf(fused.inputs))) return false;
    replacements_[maker] = std::nullopt;
    replacements_[&sum] = std::move(fused);
    return true;
  }

  const Function& function_;
  HasOperation has_;
  // By tensor; null for parameters.
  std::vector<const Call*> makers_;
  // By tensor; a result is read once more.
  std::vector<int> read_counts_;
  Replacements replacements_;
};

}  // namespace

std::unique_ptr<Function> FuseBias(const Function& function, HasOperation has) {
  return BiasFusion(function, has).Run();
}

}  // namespace paceline::op
