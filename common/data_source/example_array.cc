#include "common/data_source/example_array.h"

#include <cstring>

#include "absl/strings/str_cat.h"
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

// Whether these are the first bytes of a JPEG or PNG image.
bool IsImage(absl::string_view bytes) {
  return bytes.substr(0, 3) == "\xff\xd8\xff" ||
         bytes.substr(0, 8) == "\x89PNG\r\n\x1a\n";
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

absl::StatusOr<Content> ContentOfBytes(const ExampleFeature& feature,
                                       absl::string_view list) {
  std::vector<absl::string_view> strings;
  ASSIGN_OR_RETURN(const absl::string_view bytes,
                   OnlyString(feature.feature, list, strings));
  if (IsImage(bytes) && !feature.shape && !feature.type) {
    return FeatureError(feature.feature,
                        "is an encoded image, which is not supported yet; "
                        "expected numbers, or the bytes of numbers");
  }
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
  if (list.kind == FeatureKind::kBytes) {
    return ContentOfBytes(feature, list.bytes);
  }
  if (feature.type) {
    return FeatureError(
        feature.feature,
        absl::StrCat("has a ", FeatureKindName(list.kind),
                     "; expected a bytes_list, since it has a `type`"));
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
  ASSIGN_OR_RETURN(const Content content, ContentOf(feature, list));
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
    : array_(std::move(array)), count_(NumElements(array_.spec.shape)) {}

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
  const size_t size = SizeOf(array_.spec.type);
  RETURN_IF_ERROR(CheckSize(bytes.size(), count_ * size, "bytes"));
  if (size == 1) return ElementsAt(bytes.data());
  aligned_.resize(bytes.size() / sizeof(std::max_align_t) + 1);
  std::memcpy(aligned_.data(), bytes.data(), bytes.size());
  return ElementsAt(aligned_.data());
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
