#include "common/model/layers/zero_padding2d.h"

#include <string>

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/model/window.h"
#include "common/operations/pad.h"

namespace paceline {

// Keras' forms: n for all sides; [n, m] for height and width; or [[top,
// bottom], [left, right]].
template <>
struct Codec<std::array<std::array<int64_t, 2>, 2>> {
  using Sides = std::array<std::array<int64_t, 2>, 2>;

  static absl::Status Read(const Value& value, const Path& path, Sides& out) {
    if (value.is_list()) {
      const Value::List& list = value.as_list();
      if (list.size() != 2) return WrongType(value, path, Type());
      for (size_t axis = 0; axis < 2; ++axis) {
        RETURN_IF_ERROR((Codec<std::array<int64_t, 2>>::Read(
            list[axis], path.Index(axis), out[axis])));
      }
      return absl::OkStatus();
    }
    int64_t all = 0;
    RETURN_IF_ERROR(Codec<int64_t>::Read(value, path, all));
    out = {{{all, all}, {all, all}}};
    return absl::OkStatus();
  }
  static Value Write(const Sides& m) {
    return Value::List{Codec<std::array<int64_t, 2>>::Write(m[0]),
                       Codec<std::array<int64_t, 2>>::Write(m[1])};
  }
  static std::string Type() {
    return "integer, pair of integers or pair of pairs";
  }
};

const FieldTable<ZeroPadding2D>& ZeroPadding2D::Fields() {
  static const auto& table = *new FieldTable<ZeroPadding2D>(
      kClassName, "Zeros around images.",
      LayerFields<ZeroPadding2D>(
          {Optional("padding", &ZeroPadding2D::padding, Between(0, kMaxWindow),
                    "One for all sides; of height and width; or [[top, "
                    "bottom], [left, right]]."),
           Only("data_format", "channels_last", "Layout of images.")}));
  return table;
}

absl::StatusOr<Shape> ZeroPadding2D::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckImage(inputs[0]));
  Shape output = inputs[0];
  for (size_t axis = 0; axis < 2; ++axis) {
    output[axis] += padding[axis][0] + padding[axis][1];
  }
  return output;
}

LoweredLayer ZeroPadding2D::Lower(const LayerCall& call) const {
  const auto& [vertical, horizontal] = padding;
  return op::Pad(call.inputs[0], {{0, 0},
                                  {vertical[0], vertical[1]},
                                  {horizontal[0], horizontal[1]},
                                  {0, 0}});
}

}  // namespace paceline
