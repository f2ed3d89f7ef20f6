// Moving statistics of workers that push asynchronously.
//
// A step moves a statistic by new = old · m + batch · (1 − m), where m is the
// momentum of its layer. A device computes the delta new − old. This is right
// for replicas that step together: all have the same old value, so the sum of
// their deltas, weighted by their fractions of the step, gives the weighted
// mean of their new values.
//
// Workers that push asynchronously have no common old value: each has the value
// of its last pull, and others have pushed since. If the server added the
// deltas of N workers, the statistic would move N times as far from the same
// old value, beyond all their batches if N · (1 − m) > 1; a variance could
// become negative. So the worker, which knows the old value of its delta,
// pushes
//
//   part = delta + old · (1 − m) = batch · (1 − m),
//
// which does not depend on any old value, and the server computes new = now · m
// + part. This is the formula itself, applied to one batch after the other in
// the order of arrival. The result is always between the current value and the
// batch. So the statistic stays within the range of the batches, however stale
// the workers are.
#ifndef PACELINE_COMMON_OPTIMIZER_MOVING_STATISTICS_H_
#define PACELINE_COMMON_OPTIMIZER_MOVING_STATISTICS_H_

#include <cstddef>

#include "absl/types/span.h"

namespace paceline {

// Replaces deltas by parts. `old_values`: the values from which the deltas were
// computed.
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
