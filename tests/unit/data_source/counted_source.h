// A source that counts how often its examples are read.
#ifndef PACELINE_TESTS_UNIT_DATA_SOURCE_COUNTED_SOURCE_H_
#define PACELINE_TESTS_UNIT_DATA_SOURCE_COUNTED_SOURCE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/data_source/data_source.h"
#include "gtest/gtest.h"

namespace paceline {

inline constexpr int64_t kCountedExamples = 500;

// Example i has the features {i, -i}, the label 2·i, and the weight i / 2. Its
// readers have one place for all examples, and count what is read.
class CountedSource : public DataSource {
 public:
  explicit CountedSource(Shape shape = {2}) {
    spec_.features = {{"", "x", ElementType::kInt32, std::move(shape)}};
    spec_.labels = {{"", "y", ElementType::kInt64, {}}};
    spec_.weights = {{"", "w", ElementType::kFloat32, {}}};
  }

  const std::string& name() const override { return name_; }
  const ExampleSpec& spec() const override { return spec_; }
  int64_t example_count() const override { return kCountedExamples; }
  absl::Status CheckClassIds(size_t, const ClassIds& ids) const override {
    if (ids.count >= 2 * kCountedExamples) return absl::OkStatus();
    return absl::InvalidArgumentError("too many");
  }
  FileLayout Files() const override { return {.begins = {0, 7}}; }
  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override {
    return std::make_unique<Reader>(*this);
  }

  mutable std::array<std::atomic<int>, kCountedExamples> reads = {};
  // Fails the first time that it is read, with `error`.
  int64_t broken = -1;
  absl::Status error = absl::DataLossError("broken");

 private:
  class Reader : public ExampleReader {
   public:
    explicit Reader(const CountedSource& source) : source_(source) {
      example_.features = {{ElementType::kInt32,
                            reinterpret_cast<const std::byte*>(x_.data()), 2}};
      example_.labels = {
          {ElementType::kInt64, reinterpret_cast<const std::byte*>(&y_), 1}};
      example_.weights = {
          {ElementType::kFloat32, reinterpret_cast<const std::byte*>(&w_), 1}};
    }

    absl::StatusOr<const Example*> Read(int64_t index) override {
      const int before = source_.reads[index]++;
      if (index == source_.broken && before == 0) {
        return source_.error;
      }
      x_ = {static_cast<int32_t>(index), static_cast<int32_t>(-index)};
      y_ = 2 * index;
      w_ = static_cast<float>(index) / 2;
      return &example_;
    }

   private:
    const CountedSource& source_;
    std::array<int32_t, 2> x_ = {};
    int64_t y_ = 0;
    float w_ = 0;
    Example example_;
  };

  const std::string name_ = "counted";
  ExampleSpec spec_;
};

// Value `i` of an array.
template <typename T>
T At(const Elements& values, int64_t i) {
  T value;
  std::memcpy(&value, values.data + i * sizeof(T), sizeof(T));
  return value;
}

inline void ExpectExample(const Example& example, int64_t index) {
  EXPECT_EQ(At<int32_t>(example.features[0], 0), index);
  EXPECT_EQ(At<int32_t>(example.features[0], 1), -index);
  EXPECT_EQ(At<int64_t>(example.labels[0], 0), 2 * index);
  EXPECT_EQ(At<float>(example.weights[0], 0), static_cast<float>(index) / 2);
}

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_DATA_SOURCE_COUNTED_SOURCE_H_
