// What the constraint of a variable (common/model/constraint.h) makes of it at
// the end of an update, as in Keras:
//
//   NonNeg      w = max(w, 0)
//   the others  w *= desired / (1e-7 + norm), for each group of elements that
//               differ along the summed axes only
//
// Norms are computed in float64.
#ifndef PACELINE_COMMON_OPTIMIZER_CONSTRAIN_H_
#define PACELINE_COMMON_OPTIMIZER_CONSTRAIN_H_

#include <cstdint>

#include "absl/types/span.h"
#include "common/base/host_device.h"
#include "common/limits.h"
#include "common/model/constraint.h"

namespace paceline {

// The bounds of norms. Trivially copyable.
struct NormBounds {
  // The least norm, the largest, and how far a step moves a norm to its bound.
  double least = 0;
  double most = 1;
  double rate = 1;
  // Whether all norms become 1: Keras divides by them, without a bound.
  bool is_unit = false;

  // By what a group with this norm is multiplied.
  PACELINE_HOST_DEVICE double FactorOf(double norm) const {
    constexpr double kEpsilon = 1e-7;
    if (is_unit) return 1 / (kEpsilon + norm);
    // Written so that NaN stays.
    const double raised = norm < least ? least : norm;
    const double bounded = raised > most ? most : raised;
    return (rate * bounded + (1 - rate) * norm) / (kEpsilon + norm);
  }
};

// The groups of a variable's elements, which lie in C order. Trivially
// copyable, for kernels.
struct NormGroups {
  struct Axis {
    int64_t size = 1;
    // Distance of neighbours along the axis: of elements, and of their groups;
    // the latter is 0 for a summed axis.
    int64_t stride = 1;
    int64_t group_stride = 0;
  };

  // Neighbouring axes that are both summed, or both not, are one.
  Axis axes[limits::kMaxRank];
  int axis_count = 0;
  int64_t group_count = 1;
  // Elements of a group.
  int64_t group_size = 1;

  PACELINE_HOST_DEVICE int64_t GroupOf(int64_t element) const {
    int64_t group = 0;
    for (int i = 0; i < axis_count; ++i) {
      group += element / axes[i].stride % axes[i].size * axes[i].group_stride;
    }
    return group;
  }

  // The element number `index` of a group.
  PACELINE_HOST_DEVICE int64_t ElementOf(int64_t group, int64_t index) const {
    int64_t element = 0;
    for (int i = axis_count - 1; i >= 0; --i) {
      const Axis& axis = axes[i];
      if (axis.group_stride == 0) {
        element += index % axis.size * axis.stride;
        index /= axis.size;
      } else {
        element += group / axis.group_stride % axis.size * axis.stride;
      }
    }
    return element;
  }
};

// Of a constraint with norms. `shape` must fit it (Constraint::CheckShape).
NormBounds NormBoundsOf(const Constraint& constraint);
NormGroups NormGroupsOf(const Constraint& constraint,
                        absl::Span<const int64_t> shape);

// Applies the constraint of a variable of this shape on the CPU. With norms,
// `values` must be the whole variable, and memory for them is allocated.
void Constrain(const Constraint& constraint, absl::Span<const int64_t> shape,
               absl::Span<float> values);
void Constrain(const Constraint& constraint, absl::Span<const int64_t> shape,
               absl::Span<double> values);

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_CONSTRAIN_H_
