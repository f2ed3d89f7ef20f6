#include "common/data_source/example_feature.h"

#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/limits.h"

namespace paceline {
namespace {

absl::Status CheckFeature(const ExampleFeature& feature, const Path& path) {
  if (feature.feature.empty()) {
    return WrongType(feature.feature, path.Key("feature"),
                     "the name of a feature");
  }
  if (feature.HasImageOptions() && (feature.shape || feature.type)) {
    return ConfigError(path.Key(feature.shape ? "shape" : "type"),
                       "is of numbers, which have no options of images");
  }
  if (!feature.image_size &&
      (feature.interpolation || feature.crop_to_aspect_ratio)) {
    return ConfigError(path.Key(feature.interpolation ? "interpolation"
                                                      : "crop_to_aspect_ratio"),
                       "expected an `image_size`, too");
  }
  if (!feature.shape || IsShapeOfExample(*feature.shape)) {
    return absl::OkStatus();
  }
  return WrongType(Codec<Shape>::Write(*feature.shape), path.Key("shape"),
                   "positive sizes");
}

}  // namespace

bool IsShapeOfExample(const Shape& shape) {
  if (shape.size() >= static_cast<size_t>(limits::kMaxRank)) return false;
  int64_t elements = 1;
  for (const int64_t size : shape) {
    if (size < 1 || size > limits::kMaxElements / elements) return false;
    elements *= size;
  }
  return true;
}

ImageOptions ExampleFeature::AsImage() const {
  ImageOptions options;
  options.image_size = image_size.value_or(options.image_size);
  options.color_mode = color_mode.value_or(options.color_mode);
  options.interpolation = interpolation.value_or(options.interpolation);
  options.crop_to_aspect_ratio =
      crop_to_aspect_ratio.value_or(options.crop_to_aspect_ratio);
  return options;
}

absl::Span<const EnumName<ElementType>> EnumNames(ElementType) {
  static constexpr EnumName<ElementType> kNames[] = {
      {ElementType::kUint8, "uint8"},     {ElementType::kInt8, "int8"},
      {ElementType::kInt16, "int16"},     {ElementType::kInt32, "int32"},
      {ElementType::kInt64, "int64"},     {ElementType::kFloat32, "float32"},
      {ElementType::kFloat64, "float64"},
  };
  return kNames;
}

const FieldTable<ExampleFeature>& FieldsOf(const ExampleFeature*) {
  static const auto& table = *new FieldTable<ExampleFeature>(
      "feature",
      "A feature of tf.train.Examples: its name, or a map with these keys.",
      {Required("feature", &ExampleFeature::feature, "Its name."),
       Optional("shape", &ExampleFeature::shape,
                "Shape per example. Default: that of a scalar, or of a vector "
                "if the first example has several values."),
       Optional("type", &ExampleFeature::type,
                "Type of values that are stored in a string of bytes, as "
                "tf.io.decode_raw reads them. Default: `uint8`."),
       Optional("image_size", &ExampleFeature::image_size,
                Between(1, kMaxImageSide),
                "Height and width to which encoded images are resized, as "
                "float32. Default: they keep the size of the first one, which "
                "all must have, and uint8."),
       Optional("color_mode", &ExampleFeature::color_mode,
                "Channels to which encoded images are converted. Default: "
                "`rgb`."),
       Optional("interpolation", &ExampleFeature::interpolation,
                "How they are resized. Default: `bilinear`."),
       Optional("crop_to_aspect_ratio", &ExampleFeature::crop_to_aspect_ratio,
                "Whether they are cut to the ratio of `image_size` before.")},
      [] { return ExampleFeature(); }, CheckFeature);
  return table;
}

absl::Status Codec<ExampleFeature>::Read(const Value& value, const Path& path,
                                         ExampleFeature& out) {
  if (value.is_map()) return FieldsOf(&out).ReadInto(value, path, out);
  if (!value.is_string()) return WrongType(value, path, Type());
  out.feature = value.as_string();
  return CheckFeature(out, path);
}

Value Codec<ExampleFeature>::Write(const ExampleFeature& m) {
  if (!m.shape && !m.type && !m.HasImageOptions()) return m.feature;
  return FieldsOf(&m).WriteWithoutDefaults(m);
}

}  // namespace paceline
