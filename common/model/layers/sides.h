// Elements at both ends of an example's axes: what paddings add, and croppings
// remove.
#ifndef PACELINE_COMMON_MODEL_LAYERS_SIDES_H_
#define PACELINE_COMMON_MODEL_LAYERS_SIDES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/config/codec.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// Before and after the elements of an axis.
using Sides = std::array<int64_t, 2>;
// {top, bottom}, {left, right}.
using ImageSides = std::array<Sides, 2>;

// Keras' forms: n for all sides; [n, m] for height and width; or [[top,
// bottom], [left, right]].
template <>
struct Codec<ImageSides> {
  static absl::Status Read(const Value& value, const Path& path,
                           ImageSides& out) {
    if (value.is_list()) {
      const Value::List& list = value.as_list();
      if (list.size() != 2) return WrongType(value, path, Type());
      for (size_t axis = 0; axis < 2; ++axis) {
        RETURN_IF_ERROR(
            Codec<Sides>::Read(list[axis], path.Index(axis), out[axis]));
      }
      return absl::OkStatus();
    }
    int64_t all = 0;
    RETURN_IF_ERROR(Codec<int64_t>::Read(value, path, all));
    out = {{{all, all}, {all, all}}};
    return absl::OkStatus();
  }
  static Value Write(const ImageSides& m) {
    return Value::List{Codec<Sides>::Write(m[0]), Codec<Sides>::Write(m[1])};
  }
  static std::string Type() {
    return "integer, pair of integers or pair of pairs";
  }
};

// In all functions `sides` are those of the first axes of an example.

// The shape of an example that is padded.
Shape PaddedShape(Shape input, absl::Span<const Sides> sides);
// Pads with zeros.
op::Tensor Padded(const op::Tensor& x, absl::Span<const Sides> sides);

// The shape of an example that is cropped. InvalidArgument if nothing of an
// axis would be left.
absl::StatusOr<Shape> CroppedShape(const Shape& input,
                                   absl::Span<const Sides> sides);
op::Tensor Cropped(const op::Tensor& x, absl::Span<const Sides> sides);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_SIDES_H_
