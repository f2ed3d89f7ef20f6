#include "common/operations/binary_map.h"

#include <cmath>
#include <vector>

#include "glog/logging.h"
#include "worker/device/reference/operations/offsets.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {
namespace {

template <typename T>
T Compute(op::BinaryFunction function, T a, T b) {
  switch (function) {
    case op::BinaryFunction::kAdd:
      return a + b;
    case op::BinaryFunction::kSubtract:
      return a - b;
    case op::BinaryFunction::kMultiply:
      return a * b;
    case op::BinaryFunction::kDivide:
      return a / b;
    case op::BinaryFunction::kPower:
      return static_cast<T>(std::pow(a, b));
    case op::BinaryFunction::kMaximum:
      // a != a holds for NaN, which the comparison alone would lose.
      return a != a || a > b ? a : b;
    case op::BinaryFunction::kMinimum:
      return a != a || a < b ? a : b;
  }
  LOG(FATAL) << static_cast<int>(function);
}

}  // namespace

void EvaluateBinaryMap(const op::Operation& operation,
                       const Evaluation& evaluation) {
  const auto function =
      static_cast<const op::BinaryMapOperation&>(operation).function();
  const Array& a = evaluation.input(0);
  const Array& b = evaluation.input(1);
  Array& y = evaluation.output();
  const std::vector<int64_t> a_offsets = BroadcastOffsets(a.shape(), y.shape());
  const std::vector<int64_t> b_offsets = BroadcastOffsets(b.shape(), y.shape());
  WithNumberType(y.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> from_a = a.values<T>();
    const absl::Span<const T> from_b = b.values<T>();
    const absl::Span<T> to = y.values<T>();
    for (size_t i = 0; i < to.size(); ++i) {
      to[i] = Compute(function, from_a[a_offsets[i]], from_b[b_offsets[i]]);
    }
  });
}

}  // namespace paceline::reference
