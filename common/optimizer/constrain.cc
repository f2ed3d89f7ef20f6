#include "common/optimizer/constrain.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "common/tensor/shape.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// By axis of the shape.
std::vector<bool> SummedAxes(const Constraint& constraint, size_t rank) {
  std::vector<bool> is_summed(rank);
  for (const int64_t axis : constraint.axis) {
    is_summed[axis < 0 ? axis + static_cast<int64_t>(rank) : axis] = true;
  }
  return is_summed;
}

// Calls visit(row, group, group_stride) for each run of elements along the last
// axis: element i is in group + i · group_stride.
template <typename T, typename Visit>
void ForEachRow(const NormGroups& groups, absl::Span<T> values, Visit visit) {
  const NormGroups::Axis& last = groups.axes[groups.axis_count - 1];
  const auto count = static_cast<int64_t>(values.size());
  for (int64_t begin = 0; begin < count; begin += last.size) {
    visit(values.subspan(begin, last.size), groups.GroupOf(begin),
          last.group_stride);
  }
}

template <typename T>
void ConstrainNorms(const NormBounds& bounds, const NormGroups& groups,
                    absl::Span<T> values) {
  std::vector<double> factors(groups.group_count);
  ForEachRow(groups, values, [&](absl::Span<T> row, int64_t group, int64_t by) {
    for (const T w : row) {
      factors[group] += static_cast<double>(w) * static_cast<double>(w);
      group += by;
    }
  });
  for (double& each : factors) each = bounds.FactorOf(std::sqrt(each));
  ForEachRow(groups, values, [&](absl::Span<T> row, int64_t group, int64_t by) {
    for (T& w : row) {
      w = static_cast<T>(w * factors[group]);
      group += by;
    }
  });
}

template <typename T>
void ConstrainTyped(const Constraint& constraint,
                    absl::Span<const int64_t> shape, absl::Span<T> values) {
  if (constraint.is_none()) return;
  if (!constraint.has_norms()) {
    // NaN stays.
    for (T& w : values) w = w < 0 ? 0 : w;
    return;
  }
  CHECK_EQ(NumElements(shape), static_cast<int64_t>(values.size()));
  ConstrainNorms(NormBoundsOf(constraint), NormGroupsOf(constraint, shape),
                 values);
}

}  // namespace

NormBounds NormBoundsOf(const Constraint& constraint) {
  return {.least = constraint.min_value,
          .most = constraint.max_value,
          .rate = constraint.rate,
          .is_unit = constraint.class_name == "UnitNorm"};
}

NormGroups NormGroupsOf(const Constraint& constraint,
                        absl::Span<const int64_t> shape) {
  CHECK_LE(shape.size(), static_cast<size_t>(limits::kMaxRank));
  const std::vector<bool> is_summed = SummedAxes(constraint, shape.size());
  NormGroups groups;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool goes_on = i > 0 && is_summed[i] == is_summed[i - 1];
    if (!goes_on) ++groups.axis_count;
    groups.axes[groups.axis_count - 1].size *= shape[i];
  }
  bool sums = is_summed.back();
  int64_t stride = 1;
  for (int i = groups.axis_count - 1; i >= 0; --i) {
    NormGroups::Axis& axis = groups.axes[i];
    axis.stride = stride;
    stride *= axis.size;
    if (!sums) axis.group_stride = groups.group_count;
    (sums ? groups.group_size : groups.group_count) *= axis.size;
    sums = !sums;
  }
  return groups;
}

void Constrain(const Constraint& constraint, absl::Span<const int64_t> shape,
               absl::Span<float> values) {
  ConstrainTyped(constraint, shape, values);
}

void Constrain(const Constraint& constraint, absl::Span<const int64_t> shape,
               absl::Span<double> values) {
  ConstrainTyped(constraint, shape, values);
}

}  // namespace paceline
