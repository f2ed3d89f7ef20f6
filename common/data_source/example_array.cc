#include "common/data_source/example_array.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "common/tensor/shape.h"
#include "common/tfrecord/feature_values.h"

namespace paceline {
namespace {

// Values of a feature in one example.
constexpr size_t kMaxValues = size_t{64} << 20;

absl::Status FeatureError(const std::string& feature, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("feature \"", feature, "\" ", what));
}

absl::Status Malformed(const std::string& feature, FeatureKind kind) {
  return FeatureError(feature,
                      absl::StrCat("has a malformed ", FeatureKindName(kind)));
}

// The bytes of a list with one string. `strings`: memory.
absl::StatusOr<absl::string_view> OnlyString(
    const std::string& feature, absl::string_view list,
    std::vector<absl::string_view>& strings) {
  if (!ReadBytesList(list, 1, strings)) {
    return Malformed(feature, FeatureKind::kBytes);
  }
  if (strings.size() == 1) return strings[0];
  return FeatureError(feature,
                      absl::StrCat("has ", strings.empty() ? "no" : "several",
                                   " strings; expected one"));
}

// The element type, and the number of values.
struct Content {
  ElementType type = ElementType::kUint8;
  size_t count = 0;
};

// Whether the feature is of encoded images, after the first one's bytes.
bool IsOfImages(const ExampleFeature& feature, absl::string_view bytes) {
  return feature.HasImageOptions() ||
         (!feature.shape && !feature.type &&
          ImageFormatOf(bytes) != ImageFormat::kNone);
}

absl::StatusOr<ExampleArray> DescribeImages(const ExampleFeature& feature,
                                            absl::string_view bytes) {
  const ImageOptions options = feature.AsImage();
  ExampleArray array;
  array.feature = feature.feature;
  array.kind = FeatureKind::kBytes;
  array.image = options.Form();
  array.is_resized = feature.image_size.has_value();
  array.spec.type = ElementType::kFloat32;
  if (!array.is_resized) {
    ImageDecoder decoder(array.image->channels);
    const auto first = decoder.Decode(bytes);
    if (!first.ok()) {
      return Annotate(first.status(),
                      absl::StrCat("feature \"", feature.feature, "\""));
    }
    array.image->size = (*first)->size();
    array.spec.type = ElementType::kUint8;
  }
  array.spec.shape = {array.image->size.height, array.image->size.width,
                      array.image->channels};
  return array;
}

absl::StatusOr<Content> ContentOfBytes(const ExampleFeature& feature,
                                       absl::string_view bytes) {
  const ElementType type = feature.type.value_or(ElementType::kUint8);
  if (bytes.size() % SizeOf(type) != 0) {
    return FeatureError(
        feature.feature,
        absl::StrCat("has ", bytes.size(), " bytes; expected a multiple of ",
                     SizeOf(type), ", for ", ElementTypeName(type)));
  }
  return Content{type, bytes.size() / SizeOf(type)};
}

absl::StatusOr<Content> ContentOf(const ExampleFeature& feature,
                                  const FeatureList& list) {
  if (feature.type || feature.HasImageOptions()) {
    return FeatureError(
        feature.feature,
        absl::StrCat("has a ", FeatureKindName(list.kind),
                     "; expected a bytes_list, since it has ",
                     feature.type ? "a `type`" : "options of images"));
  }
  if (list.kind == FeatureKind::kFloat) {
    std::vector<float> values;
    if (!ReadFloatList(list.bytes, kMaxValues, values)) {
      return Malformed(feature.feature, list.kind);
    }
    return Content{ElementType::kFloat32, values.size()};
  }
  std::vector<int64_t> values;
  if (!ReadInt64List(list.bytes, kMaxValues, values)) {
    return Malformed(feature.feature, list.kind);
  }
  return Content{ElementType::kInt64, values.size()};
}

}  // namespace

absl::StatusOr<ExampleArray> DescribeFeature(const ExampleFeature& feature,
                                             const FeatureList& list) {
  if (list.kind == FeatureKind::kNone) {
    return FeatureError(feature.feature, "has no values");
  }
  std::vector<absl::string_view> strings;
  absl::string_view bytes;
  if (list.kind == FeatureKind::kBytes) {
    ASSIGN_OR_RETURN(bytes, OnlyString(feature.feature, list.bytes, strings));
    if (IsOfImages(feature, bytes)) return DescribeImages(feature, bytes);
  }
  ASSIGN_OR_RETURN(const Content content, list.kind == FeatureKind::kBytes
                                              ? ContentOfBytes(feature, bytes)
                                              : ContentOf(feature, list));
  if (content.count > kMaxValues) {
    return FeatureError(feature.feature,
                        absl::StrCat("has more than ", kMaxValues, " values"));
  }
  if (content.count == 0) {
    return FeatureError(feature.feature, "has no values");
  }
  ExampleArray array;
  array.feature = feature.feature;
  array.kind = list.kind;
  array.spec.type = content.type;
  if (feature.shape) {
    array.spec.shape = *feature.shape;
  } else if (content.count > 1) {
    array.spec.shape = {static_cast<int64_t>(content.count)};
  }
  const int64_t expected = NumElements(array.spec.shape);
  if (static_cast<size_t>(expected) != content.count) {
    return FeatureError(
        feature.feature,
        absl::StrCat("has ", content.count, " values; expected ", expected,
                     ", for the shape ", ShapeToString(array.spec.shape)));
  }
  return array;
}

ExampleArrayReader::ExampleArrayReader(ExampleArray array)
    : array_(std::move(array)), count_(NumElements(array_.spec.shape)) {
  if (!array_.image) return;
  if (array_.is_resized) {
    loader_ = std::make_unique<ImageLoader>(*array_.image);
    floats_.resize(count_);
  } else {
    decoder_ = std::make_unique<ImageDecoder>(array_.image->channels);
  }
}

absl::StatusOr<Elements> ExampleArrayReader::Read(const FeatureList& list) {
  if (list.kind != array_.kind) {
    return FeatureError(
        array_.feature,
        absl::StrCat("has ", FeatureKindName(list.kind), "; expected ",
                     FeatureKindName(array_.kind), ", as the first example"));
  }
  if (array_.kind == FeatureKind::kBytes) return ReadBytes(list.bytes);
  const bool is_float = array_.kind == FeatureKind::kFloat;
  if (is_float ? !ReadFloatList(list.bytes, count_, floats_)
               : !ReadInt64List(list.bytes, count_, ints_)) {
    return Malformed(array_.feature, list.kind);
  }
  const size_t count = is_float ? floats_.size() : ints_.size();
  RETURN_IF_ERROR(CheckSize(count, count_, "values"));
  return is_float ? ElementsAt(floats_.data()) : ElementsAt(ints_.data());
}

absl::StatusOr<Elements> ExampleArrayReader::ReadBytes(absl::string_view list) {
  ASSIGN_OR_RETURN(const absl::string_view bytes,
                   OnlyString(array_.feature, list, strings_));
  if (array_.image) {
    auto image = ReadImage(bytes);
    if (image.ok()) return image;
    return Annotate(image.status(),
                    absl::StrCat("feature \"", array_.feature, "\""));
  }
  const size_t size = SizeOf(array_.spec.type);
  RETURN_IF_ERROR(CheckSize(bytes.size(), count_ * size, "bytes"));
  if (size == 1) return ElementsAt(bytes.data());
  aligned_.resize(bytes.size() / sizeof(std::max_align_t) + 1);
  std::memcpy(aligned_.data(), bytes.data(), bytes.size());
  return ElementsAt(aligned_.data());
}

absl::StatusOr<Elements> ExampleArrayReader::ReadImage(
    absl::string_view bytes) {
  if (loader_) {
    RETURN_IF_ERROR(loader_->Load(bytes, floats_.data()));
    return ElementsAt(floats_.data());
  }
  ASSIGN_OR_RETURN(const PixelBuffer* const image, decoder_->Decode(bytes));
  const ImageSize expected = array_.image->size;
  if (image->size() == expected) return ElementsAt(image->pixels());
  return absl::InvalidArgumentError(absl::StrFormat(
      "the image has %d x %d pixels; expected %d x %d, as the first one, or an "
      "`image_size` to which all are resized",
      image->size().height, image->size().width, expected.height,
      expected.width));
}

Elements ExampleArrayReader::ElementsAt(const void* data) const {
  return {array_.spec.type, static_cast<const std::byte*>(data),
          static_cast<int64_t>(count_)};
}

absl::Status ExampleArrayReader::CheckSize(size_t size, size_t expected,
                                           absl::string_view of) const {
  if (size == expected) return absl::OkStatus();
  // No more values are read than show that there are too many.
  const std::string found = size > expected
                                ? absl::StrCat("more than ", expected)
                                : absl::StrCat(size);
  return FeatureError(array_.feature,
                      absl::StrCat("has ", found, " ", of, "; expected ",
                                   expected, ", as the first example"));
}

}  // namespace paceline
