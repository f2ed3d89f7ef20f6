#include "common/operations/elementwise.h"

#include "common/operations/broadcast.h"
#include "glog/logging.h"

namespace paceline::op {

std::vector<TensorType> ElementwiseOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  CHECK_LE(inputs.size(), size_t{kMaxInputs});
  CHECK_LE(instructions_.size(), size_t{kMaxInstructions});
  CHECK(!inputs.empty() || !instructions_.empty());
  for (const TensorType& input : inputs) {
    CHECK(input.type == output_.type || input.type == DataType::kInt32 ||
          input.type == DataType::kBool)
        << ToString(input) << " for " << ToString(output_);
    CHECK(BroadcastShape(input.shape, output_.shape) == output_.shape)
        << ToString(input) << " for " << ToString(output_);
  }
  int value = static_cast<int>(inputs.size());
  for (const ElementInstruction& each : instructions_) {
    const int operands[] = {each.a, each.b, each.c};
    for (int i = 0; i < OperandCount(each.function); ++i) {
      CHECK_GE(operands[i], 0);
      CHECK_LT(operands[i], value);
    }
    ++value;
  }
  return {output_};
}

}  // namespace paceline::op
