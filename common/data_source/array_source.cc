#include "common/data_source/array_source.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/data_source/convert.h"
#include "glog/logging.h"

namespace paceline {
namespace {

Shape ShapeOfExample(const Shape& shape) {
  return Shape(shape.begin() + 1, shape.end());
}

// Row `index` of an array whose rows have `row_size` elements.
Elements Row(const StoredArray& array, int64_t row_size, int64_t index) {
  const auto row_bytes = static_cast<int64_t>(SizeOf(array.type)) * row_size;
  return {array.type, array.data.get() + index * row_bytes, row_size};
}

class ArraySource : public DataSource {
 public:
  ArraySource(NamedArray features, NamedArray labels)
      : name_(std::move(features.name)),
        label_name_(std::move(labels.name)),
        features_(std::move(features.array)),
        labels_(std::move(labels.array)),
        feature_shape_(ShapeOfExample(features_.shape)),
        label_shape_(ShapeOfExample(labels_.shape)),
        feature_size_(NumElements(feature_shape_)),
        label_size_(NumElements(label_shape_)) {}

  const std::string& name() const override { return name_; }
  int64_t example_count() const override { return features_.shape[0]; }
  const Shape& feature_shape() const override { return feature_shape_; }
  const Shape& label_shape() const override { return label_shape_; }

  absl::Status CheckClassIds(int64_t class_count) const override {
    const Elements all = {labels_.type, labels_.data.get(),
                          example_count() * label_size_};
    return Annotate(paceline::CheckClassIds(all, class_count), label_name_);
  }

  absl::StatusOr<Example> Read(
      int64_t index, std::vector<std::byte>& /*scratch*/) const override {
    CHECK(index >= 0 && index < example_count());
    return Example{Row(features_, feature_size_, index),
                   Row(labels_, label_size_, index)};
  }

 private:
  const std::string name_;
  const std::string label_name_;
  const StoredArray features_;
  const StoredArray labels_;
  const Shape feature_shape_;
  const Shape label_shape_;
  const int64_t feature_size_;
  const int64_t label_size_;
};

}  // namespace

absl::Status CheckSameCount(const std::string& features_name,
                            const Shape& features,
                            const std::string& labels_name,
                            const Shape& labels) {
  if (features[0] == labels[0]) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s has %d examples, but %s has %d labels", features_name,
                      features[0], labels_name, labels[0]));
}

absl::StatusOr<std::unique_ptr<const DataSource>> MakeArraySource(
    NamedArray features, NamedArray labels) {
  RETURN_IF_ERROR(CheckSameCount(features.name, features.array.shape,
                                 labels.name, labels.array.shape));
  return std::make_unique<ArraySource>(std::move(features), std::move(labels));
}

}  // namespace paceline
