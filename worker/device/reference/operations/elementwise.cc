#include "common/operations/elementwise.h"

#include <vector>

#include "worker/device/element_formulas.h"
#include "worker/device/reference/operations/offsets.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {
namespace {

// The input's value for each element of the output.
template <typename T>
std::vector<T> Repeated(const Array& input, const Shape& shape) {
  const std::vector<int64_t> offsets = BroadcastOffsets(input.shape(), shape);
  std::vector<T> values;
  WithType(input.data_type(), [&](auto zero) {
    const auto from = input.values<decltype(zero)>();
    for (const int64_t offset : offsets) {
      values.push_back(static_cast<T>(from[offset]));
    }
  });
  return values;
}

}  // namespace

void EvaluateElementwise(const op::Operation& operation,
                         const Evaluation& evaluation) {
  const auto& instructions =
      static_cast<const op::ElementwiseOperation&>(operation).instructions();
  Array& y = evaluation.output();
  WithRealType(y.data_type(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<std::vector<T>> inputs;
    for (const Array* const input : evaluation.inputs) {
      inputs.push_back(Repeated<T>(*input, y.shape()));
    }
    const absl::Span<T> to = y.values<T>();
    for (size_t i = 0; i < to.size(); ++i) {
      std::vector<T> values;
      for (const std::vector<T>& input : inputs) values.push_back(input[i]);
      for (const op::ElementInstruction& each : instructions) {
        values.push_back(each.function == op::ElementFunction::kConstant
                             ? static_cast<T>(each.constant)
                             : ComputeElement(each.function, values[each.a],
                                              values[each.b], values[each.c]));
      }
      to[i] = values.back();
    }
  });
}

}  // namespace paceline::reference
