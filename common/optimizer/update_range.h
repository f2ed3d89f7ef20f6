// A range of variables for an update.
#ifndef PACELINE_COMMON_OPTIMIZER_UPDATE_RANGE_H_
#define PACELINE_COMMON_OPTIMIZER_UPDATE_RANGE_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace paceline {

// What the update of a variable may depend on. Does not own the data.
struct UpdatedVariable {
  // "<layer>/<variable>".
  absl::string_view name;
  absl::Span<const int64_t> shape;
};

// Elements of variables with their gradients and slots. All spans have the same
// size.
template <typename T>
struct UpdateRange {
  absl::Span<T> values;
  absl::Span<const T> gradients;
  // One span per slot, in the order of Optimizer::slot_names; all of them.
  absl::Span<const absl::Span<T>> slots;
  // The variable of these elements. Must be set if
  // Optimizer::updates_by_variable; otherwise empty.
  UpdatedVariable variable = {};
};

// Updates statistics: adds their deltas, which are stored in the place of
// gradients.
template <typename T>
void AddDeltas(absl::Span<const T> deltas, absl::Span<T> values) {
  for (size_t i = 0; i < values.size(); ++i) values[i] += deltas[i];
}

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_UPDATE_RANGE_H_
