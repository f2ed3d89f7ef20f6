// What shape rules of layers have in common.
#ifndef PACELINE_COMMON_MODEL_SHAPE_RULE_H_
#define PACELINE_COMMON_MODEL_SHAPE_RULE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/tensor/shape.h"

namespace paceline {

// InvalidArgument unless each dimension is at least 1 and rank and elements are
// within limits.h.
absl::Status CheckShape(absl::Span<const int64_t> shape);

// InvalidArgument unless the rank is at least `least`.
absl::Status CheckRank(const Shape& input, int least);

// InvalidArgument unless the shape is (height, width, channels).
absl::Status CheckImage(const Shape& input);

// The shape of inputs that are merged element by element: as in Keras, axes of
// size 1, and those that are missing in front, are repeated. InvalidArgument if
// others differ.
absl::StatusOr<Shape> BroadcastShape(absl::Span<const Shape> inputs);

// InvalidArgument unless `axis`, as Keras counts it (the batch is 0; or from
// the end), is one of an example of shape `input`.
absl::Status CheckAxis(int64_t axis, const Shape& input);
// Where it is among the `rank` dimensions of an example.
int ExampleAxis(int64_t axis, size_t rank);

// InvalidArgument if the last axis of a model's output has more classes than
// op::kMaxClasses.
absl::Status CheckClassCount(const Shape& output);
// InvalidArgument unless a model's output is one row of so many classes.
absl::Status CheckClasses(const Shape& output);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_SHAPE_RULE_H_
