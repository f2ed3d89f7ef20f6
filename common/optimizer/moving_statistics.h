// Moving statistics that workers push at their own pace.
//
// A step moves a statistic by new = old · m + batch · (1 − m), where m is the
// momentum of its layer. A device gives the delta new − old, which is right for
// replicas that step together: all have the same old, so the sum of their
// deltas, weighted by their shares of the step, is the weighted mean of what
// each would have made of it.
//
// Workers that push asynchronously have no such old in common: each knows the
// values as they were when it last pulled, and others have pushed since. Added
// to what is there now, the deltas of N workers would move the statistic N
// times as far from the same old value, beyond all their batches where
// N · (1 − m) > 1: a variance may become negative. So the worker, which knows
// the old value that its delta starts from, pushes
//
//   part = delta + old · (1 − m) = batch · (1 − m),
//
// in which no old value is left, and the server makes new = now · m + part.
// That is the formula itself, applied to one batch after the other in the order
// in which they come; it lies between what is there and the batch, so however
// stale workers are, the statistic stays within the range of the batches.
#ifndef PACELINE_COMMON_OPTIMIZER_MOVING_STATISTICS_H_
#define PACELINE_COMMON_OPTIMIZER_MOVING_STATISTICS_H_

#include <cstddef>

#include "absl/types/span.h"

namespace paceline {

// Replaces deltas by parts; `old_values` are those that the deltas start from.
template <typename T>
void DeltasToParts(double momentum, absl::Span<const T> old_values,
                   absl::Span<T> deltas) {
  const T rate = static_cast<T>(1 - momentum);
  for (size_t i = 0; i < deltas.size(); ++i) {
    deltas[i] += old_values[i] * rate;
  }
}

template <typename T>
void MoveByParts(double momentum, absl::Span<const T> parts,
                 absl::Span<T> values) {
  const T kept = static_cast<T>(momentum);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = values[i] * kept + parts[i];
  }
}

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_MOVING_STATISTICS_H_
