#include "common/operations/compare.h"

#include <vector>

#include "worker/device/reference/operations/offsets.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {
namespace {

template <typename T>
bool Holds(op::Comparison comparison, T a, T b) {
  switch (comparison) {
    case op::Comparison::kLess:
      return a < b;
    case op::Comparison::kLessEqual:
      return a <= b;
    case op::Comparison::kEqual:
      return a == b;
  }
  LOG(FATAL) << static_cast<int>(comparison);
}

}  // namespace

void EvaluateCompare(const op::Operation& operation,
                     const Evaluation& evaluation) {
  const auto comparison =
      static_cast<const op::CompareOperation&>(operation).comparison();
  const Array& a = evaluation.input(0);
  const Array& b = evaluation.input(1);
  Array& y = evaluation.output();
  const std::vector<int64_t> a_offsets = BroadcastOffsets(a.shape(), y.shape());
  const std::vector<int64_t> b_offsets = BroadcastOffsets(b.shape(), y.shape());
  WithNumberType(a.data_type(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < y.size(); ++i) {
      y.values<uint8_t>()[i] = Holds(comparison, a.values<T>()[a_offsets[i]],
                                     b.values<T>()[b_offsets[i]]);
    }
  });
}

}  // namespace paceline::reference
