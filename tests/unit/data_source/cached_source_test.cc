#include "common/data_source/cached_source.h"

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using testing::HasSubstr;

constexpr int64_t kCount = 500;

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
  int64_t example_count() const override { return kCount; }
  absl::Status CheckClassIds(size_t, const ClassIds& ids) const override {
    if (ids.count >= 2 * kCount) return absl::OkStatus();
    return absl::InvalidArgumentError("too many");
  }
  FileLayout Files() const override { return {.begins = {0, 7}}; }
  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override {
    return std::make_unique<Reader>(*this);
  }

  mutable std::array<std::atomic<int>, kCount> reads = {};
  // Fails the first time that it is read.
  int64_t broken = -1;

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
        return absl::DataLossError("broken");
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

template <typename T>
T At(const Elements& values, int64_t i) {
  T value;
  std::memcpy(&value, values.data + i * sizeof(T), sizeof(T));
  return value;
}

void ExpectExample(const Example& example, int64_t index) {
  EXPECT_EQ(At<int32_t>(example.features[0], 0), index);
  EXPECT_EQ(At<int32_t>(example.features[0], 1), -index);
  EXPECT_EQ(At<int64_t>(example.labels[0], 0), 2 * index);
  EXPECT_EQ(At<float>(example.weights[0], 0), static_cast<float>(index) / 2);
}

TEST(CachedSourceTest, ReadsEachExampleOnce) {
  auto owned = std::make_unique<CountedSource>();
  const CountedSource& source = *owned;
  const auto cached = CacheInMemory(std::move(owned));
  ASSERT_TRUE(cached.ok()) << cached.status();
  EXPECT_EQ((*cached)->name(), "counted");
  EXPECT_EQ((*cached)->example_count(), kCount);
  EXPECT_FALSE((*cached)->CheckClassIds(0, {10}).ok());
  EXPECT_EQ((*cached)->Files().FilesWithin(kCount), 2);
  for (int pass = 0; pass < 2; ++pass) {
    const auto reader = *(*cached)->MakeReader();
    for (int64_t i = kCount - 1; i >= 0; --i) {
      const auto example = reader->Read(i);
      ASSERT_TRUE(example.ok()) << example.status();
      ExpectExample(**example, i);
    }
  }
  for (int64_t i = 0; i < kCount; ++i) EXPECT_EQ(source.reads[i], 1) << i;
}

TEST(CachedSourceTest, TriesABrokenExampleAgain) {
  auto owned = std::make_unique<CountedSource>();
  owned->broken = 7;
  const auto cached = *CacheInMemory(std::move(owned));
  const auto reader = *cached->MakeReader();
  EXPECT_EQ(reader->Read(7).status(), absl::DataLossError("broken"));
  ExpectExample(**reader->Read(7), 7);
}

TEST(CachedSourceTest, ServesSeveralReaders) {
  const auto cached = *CacheInMemory(std::make_unique<CountedSource>());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&cached] {
      const auto reader = *cached->MakeReader();
      for (int64_t at = 0; at < 4 * kCount; ++at) {
        ExpectExample(**reader->Read(at % kCount), at % kCount);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CachedSourceTest, RefusesWhatNoMemoryHolds) {
  const absl::Status status =
      CacheInMemory(std::make_unique<CountedSource>(Shape{int64_t{1} << 40}))
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("counted: cache: memory: 500 examples of"));
}

}  // namespace
}  // namespace paceline
