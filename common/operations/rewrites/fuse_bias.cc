#include "common/operations/rewrites/fuse_bias.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "common/operations/convolution.h"
#include "common/operations/elementwise.h"
#include "common/operations/matrix_product.h"

namespace paceline::op {
namespace {

// What a call does with a product.
struct Tail {
  // Adds its other input.
  bool adds_bias = false;
  // Then applies max(y, 0).
  bool rectifies = false;
};

// nullopt if the call does anything else.
std::optional<Tail> TailOf(const Call& call) {
  if (call.operation->name() != ElementwiseOperation::kName) return {};
  const std::vector<ElementInstruction>& instructions =
      static_cast<const ElementwiseOperation&>(*call.operation).instructions();
  const auto computes = [&](std::initializer_list<ElementFunction> functions) {
    return std::equal(
        functions.begin(), functions.end(), instructions.begin(),
        instructions.end(),
        [](ElementFunction function, const ElementInstruction& instruction) {
          return instruction.function == function;
        });
  };
  if (call.inputs.size() == 1 && computes({ElementFunction::kRelu})) {
    return Tail{.adds_bias = false, .rectifies = true};
  }
  if (call.inputs.size() != 2) return {};
  if (computes({ElementFunction::kAdd})) return Tail{.adds_bias = true};
  if (computes({ElementFunction::kAdd, ElementFunction::kRelu})) {
    return Tail{.adds_bias = true, .rectifies = true};
  }
  return {};
}

// The operation with the tail fused into it. Null: it supports no tail, or
// already has one.
std::shared_ptr<const Operation> WithTail(const Operation& operation,
                                          const Tail& tail) {
  if (operation.name() == MatrixProductOperation::kName) {
    MatrixProductOptions options =
        static_cast<const MatrixProductOperation&>(operation).options();
    if (options.has_bias || tail.rectifies) return nullptr;
    options.has_bias = true;
    return std::make_shared<const MatrixProductOperation>(options);
  }
  if (operation.name() == ConvolutionOperation::kName) {
    const auto& convolution =
        static_cast<const ConvolutionOperation&>(operation);
    const ConvolutionOptions& options = convolution.options();
    if (options.has_bias || options.rectifies) return nullptr;
    return std::make_shared<const ConvolutionOperation>(
        convolution.parameters(),
        ConvolutionOptions{.has_bias = tail.adds_bias,
                           .rectifies = tail.rectifies});
  }
  return nullptr;
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

  Replacements Run() && {
    for (const Call& call : function_.calls()) {
      const std::optional<Tail> tail = TailOf(call);
      if (!tail) continue;
      // Either input of a sum may be the product.
      for (size_t i = 0; i < call.inputs.size() && !Fuse(call, *tail, i); ++i) {
      }
    }
    return std::move(replacements_);
  }

 private:
  // Tries to fuse the call into the one that computes its input `i`. Returns
  // whether it did.
  bool Fuse(const Call& call, const Tail& tail, size_t i) {
    const int product = call.inputs[i];
    const Call* const maker = makers_[product];
    if (maker == nullptr || read_counts_[product] > 1) return false;
    std::shared_ptr<const Operation> with_tail =
        WithTail(*maker->operation, tail);
    if (with_tail == nullptr) return false;
    const TensorType& type = function_.type(product);
    if (function_.type(call.outputs[0]) != type) return false;
    Call fused = {std::move(with_tail), maker->inputs, call.outputs,
                  call.owner};
    if (tail.adds_bias) {
      const int bias = call.inputs[1 - i];
      if (function_.type(bias).shape != Shape{type.shape.back()}) return false;
      fused.inputs.push_back(bias);
    }
    if (!has_(*fused.operation, function_.TypesOf(fused.inputs))) return false;
    replacements_[maker] = std::nullopt;
    replacements_[&call] = std::move(fused);
    return true;
  }

  const Function& function_;
  HasOperation has_;
  // By tensor: the call that computes it; null for parameters.
  std::vector<const Call*> makers_;
  // By tensor: number of reads; a result counts as one read.
  std::vector<int> read_counts_;
  Replacements replacements_;
};

}  // namespace

std::unique_ptr<Function> FuseBias(std::unique_ptr<Function> function,
                                   HasOperation has) {
  const Replacements replacements = BiasFusion(*function, has).Run();
  return replacements.empty() ? std::move(function)
                              : ReplaceCalls(*function, replacements);
}

}  // namespace paceline::op
