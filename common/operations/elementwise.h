// A chain of maps as one operation: a few instructions that run for each
// element of the output. No layer is made of it: FuseMaps
// (rewrites/fuse_maps.h) makes it of maps, so that what lies between them takes
// no memory.
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

// What an instruction computes of values a, b and c. As the operations that the
// groups come from define it; bool is 0 or 1.
enum class ElementFunction : uint8_t {
  kConstant,
  // Of a (map.h).
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
  // Of a and b (binary_map.h).
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kPower,
  kMaximum,
  kMinimum,
  // The same (compare.h).
  kLess,
  kLessEqual,
  kEqual,
  // a is not 0 ? b : c (select.h).
  kSelect,
};

// How many values it reads: none, a, a and b, or all three.
constexpr int OperandCount(ElementFunction function) {
  if (function == ElementFunction::kConstant) return 0;
  if (function < ElementFunction::kAdd) return 1;
  return function == ElementFunction::kSelect ? 3 : 2;
}

// Values are numbered: first the inputs, then what each instruction gives.
struct ElementInstruction {
  ElementFunction function = ElementFunction::kConstant;
  // Earlier values, as far as the function reads them.
  int a = 0;
  int b = 0;
  int c = 0;
  // Of kConstant.
  double constant = 0;
};

// Inputs are reals of the output's type, or int32 or bool, which become reals;
// they are broadcast to the output's shape. The last value is the output.
class ElementwiseOperation final : public Operation {
 public:
  static constexpr char kName[] = "Elementwise";
  // What devices have room for.
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
