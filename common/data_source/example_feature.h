// What a job says of a feature of tf.train.Examples.
#ifndef PACELINE_COMMON_DATA_SOURCE_EXAMPLE_FEATURE_H_
#define PACELINE_COMMON_DATA_SOURCE_EXAMPLE_FEATURE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/config/codec.h"
#include "common/config/field_table.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "common/data_source/element.h"
#include "common/data_source/image_options.h"
#include "common/image/interpolation.h"
#include "common/tensor/shape.h"

namespace paceline {

// Height and width.
using ImageSides = std::array<int64_t, 2>;

// Its name, or a map with what Examples do not say of it.
struct ExampleFeature {
  std::string feature;
  // Per example. Default: one value is a scalar, several are a vector.
  std::optional<Shape> shape;
  // Of values that are stored in a string of bytes, as tf.io.decode_raw reads
  // them. Default: uint8.
  std::optional<ElementType> type;
  // How encoded images become arrays. nullopt: they keep their size, which is
  // the same for all, and are not converted to float32.
  std::optional<ImageSides> image_size = std::nullopt;
  std::optional<ColorMode> color_mode = std::nullopt;
  std::optional<Interpolation> interpolation = std::nullopt;
  std::optional<bool> crop_to_aspect_ratio = std::nullopt;
  // The names of its classes, which no job says, but a data set of TensorFlow
  // Datasets may. Empty: unknown.
  std::vector<std::string> class_names = {};

  // Whether the job says that they are encoded images.
  bool HasImageOptions() const {
    return image_size || color_mode || interpolation || crop_to_aspect_ratio;
  }
  // With defaults.
  ImageOptions AsImage() const;
};

// Whether all sizes are positive, and they are no more than limits.h allows,
// so that their product is a number of elements.
bool IsShapeOfExample(const Shape& shape);

const FieldTable<ExampleFeature>& FieldsOf(const ExampleFeature*);

template <>
struct Codec<ExampleFeature> {
  // A map with the options of one feature, not with features by the names of
  // inputs or outputs. One that is called "feature" needs another name.
  static bool IsOne(const Value& map) { return map.Find("feature") != nullptr; }
  static absl::Status Read(const Value& value, const Path& path,
                           ExampleFeature& out);
  static Value Write(const ExampleFeature& m);
  static std::string Type() { return "name or object"; }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_EXAMPLE_FEATURE_H_
