// A fused chain of elementwise operations: a short program that runs for each
// element of the output. Layers do not use it. FuseMaps (rewrites/fuse_maps.h)
// creates it from elementwise operations, so that their intermediate results
// need no memory.
#ifndef PACELINE_COMMON_OPERATIONS_ELEMENTWISE_H_
#define PACELINE_COMMON_OPERATIONS_ELEMENTWISE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/operation.h"
#include "common/operations/tensor_type.h"

namespace paceline::op {

// What an instruction computes from values a, b and c. Defined as in the
// operations named below; bool is 0 or 1.
enum class ElementFunction : uint8_t {
  kConstant,
  // Functions of a (map.h).
  kAbs,
  kSign,
  kFloor,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kSqrt,
  kTanh,
  kSigmoid,
  kSoftplus,
  kErfc,
  kRelu,
  // Functions of a and b (binary_map.h).
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kPower,
  kMaximum,
  kMinimum,
  // Functions of a and b (compare.h).
  kLess,
  kLessEqual,
  kEqual,
  // a is not 0 ? b : c (select.h).
  kSelect,
};

// How many of a, b and c the function reads.
constexpr int OperandCount(ElementFunction function) {
  if (function == ElementFunction::kConstant) return 0;
  if (function < ElementFunction::kAdd) return 1;
  return function == ElementFunction::kSelect ? 3 : 2;
}

// Values are numbered: first the inputs, then the results of the instructions.
struct ElementInstruction {
  ElementFunction function = ElementFunction::kConstant;
  // Numbers of earlier values, as far as the function reads them.
  int a = 0;
  int b = 0;
  int c = 0;
  // For kConstant.
  double constant = 0;
};

// Inputs have the output's floating-point type, or are int32 or bool, which are
// converted; they are broadcast to the output's shape. The last value is the
// output.
class ElementwiseOperation final : public Operation {
 public:
  static constexpr char kName[] = "Elementwise";
  // Limits, so that devices can use fixed-size arrays.
  static constexpr int kMaxInputs = 8;
  static constexpr int kMaxInstructions = 32;

  ElementwiseOperation(TensorType output,
                       std::vector<ElementInstruction> instructions)
      : output_(std::move(output)), instructions_(std::move(instructions)) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;

  const std::vector<ElementInstruction>& instructions() const {
    return instructions_;
  }

 private:
  TensorType output_;
  std::vector<ElementInstruction> instructions_;
};

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_ELEMENTWISE_H_
