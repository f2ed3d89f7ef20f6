#include "common/operations/compare.h"

#include <vector>

#include "glog/logging.h"
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
    const absl::Span<const T> from_a = a.values<T>();
    const absl::Span<const T> from_b = b.values<T>();
    const absl::Span<uint8_t> to = y.values<uint8_t>();
    for (size_t i = 0; i < to.size(); ++i) {
      to[i] = Holds(comparison, from_a[a_offsets[i]], from_b[b_offsets[i]]);
    }
  });
}

}  // namespace paceline::reference
