#include "common/data_source/example_layout.h"

#include <cstring>

#include "common/tensor/shape.h"
#include "glog/logging.h"

namespace paceline {
namespace {

constexpr int64_t kArrayAlignment = 8;

int64_t SizeInBytes(ElementType type, int64_t count) {
  return count * static_cast<int64_t>(SizeOf(type));
}

}  // namespace

ExampleLayout::ExampleLayout(const ExampleSpec& spec)
    : arrays_{Place(spec.features), Place(spec.labels), Place(spec.weights)} {}

std::vector<ExampleLayout::Array> ExampleLayout::Place(
    const std::vector<ArraySpec>& specs) {
  std::vector<Array> arrays;
  for (const ArraySpec& spec : specs) {
    arrays.push_back({spec.type, NumElements(spec.shape), bytes_});
    const int64_t end = bytes_ + SizeInBytes(spec.type, arrays.back().count);
    bytes_ = (end + kArrayAlignment - 1) / kArrayAlignment * kArrayAlignment;
  }
  return arrays;
}

Example ExampleLayout::MakeExample() const {
  Example example;
  example.features.resize(arrays_.features.size());
  example.labels.resize(arrays_.labels.size());
  example.weights.resize(arrays_.weights.size());
  return example;
}

void ExampleLayout::Point(const std::byte* at, Example& example) const {
  const auto point = [at](const std::vector<Array>& arrays,
                          std::vector<Elements>& values) {
    CHECK_EQ(arrays.size(), values.size());
    for (size_t i = 0; i < arrays.size(); ++i) {
      values[i] = {arrays[i].type, at + arrays[i].offset, arrays[i].count};
    }
  };
  point(arrays_.features, example.features);
  point(arrays_.labels, example.labels);
  point(arrays_.weights, example.weights);
}

void ExampleLayout::Copy(const Example& example, std::byte* at) const {
  const auto copy = [at](const std::vector<Array>& arrays,
                         const std::vector<Elements>& values) {
    CHECK_EQ(arrays.size(), values.size());
    for (size_t i = 0; i < arrays.size(); ++i) {
      CHECK_EQ(arrays[i].count, values[i].count);
      std::memcpy(
          at + arrays[i].offset, values[i].data,
          static_cast<size_t>(SizeInBytes(arrays[i].type, arrays[i].count)));
    }
  };
  copy(arrays_.features, example.features);
  copy(arrays_.labels, example.labels);
  copy(arrays_.weights, example.weights);
}

}  // namespace paceline
