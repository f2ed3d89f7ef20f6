// Helpers for the shape inference of layers.
#ifndef PACELINE_COMMON_MODEL_SHAPE_RULE_H_
#define PACELINE_COMMON_MODEL_SHAPE_RULE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/tensor/shape.h"

namespace paceline {

// InvalidArgument unless each dimension is at least 1, and rank and number of
// elements are within limits.h.
absl::Status CheckShape(absl::Span<const int64_t> shape);

// InvalidArgument unless the rank is at least `least`.
absl::Status CheckRank(const Shape& input, int least);

// InvalidArgument unless the shape is (height, width, channels).
absl::Status CheckImage(const Shape& input);

// InvalidArgument unless the shape is (steps, channels).
absl::Status CheckSequence(const Shape& input);

// InvalidArgument unless a mask, if there is one, has the steps of the sequence
// `input`.
absl::Status CheckStepMask(const Shape& input,
                           const std::optional<Shape>& mask);

// InvalidArgument unless a layer has exactly two inputs.
absl::Status CheckTwoInputs(absl::Span<const Shape> inputs);

// The shape of inputs that are merged elementwise: as in Keras, axes of size 1
// and missing leading axes are broadcast. InvalidArgument if other axes differ.
absl::StatusOr<Shape> BroadcastShape(absl::Span<const Shape> inputs);

// InvalidArgument unless `axis`, in Keras' counting (the batch is 0; negative
// from the end), is an axis of an example of shape `input`.
absl::Status CheckAxis(int64_t axis, const Shape& input);
// Converts `axis` to an index into an example's `rank` dimensions.
int ExampleAxis(int64_t axis, size_t rank);
// Converts a list of axes, ascending. InvalidArgument unless each is an axis of
// an example, and none is there twice.
absl::StatusOr<std::vector<int>> ExampleAxes(absl::Span<const int64_t> axes,
                                             const Shape& input);

// InvalidArgument unless a model's output has rows of classes along its last
// axis: (..., classes), at most op::kMaxClasses.
absl::Status CheckClasses(const Shape& output);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_SHAPE_RULE_H_
