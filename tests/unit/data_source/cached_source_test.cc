#include "common/data_source/cached_source.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/data_source/counted_source.h"

namespace paceline {
namespace {

using testing::HasSubstr;

TEST(CachedSourceTest, ReadsEachExampleOnce) {
  auto owned = std::make_unique<CountedSource>();
  const CountedSource& source = *owned;
  const auto cached = CacheInMemory(std::move(owned));
  ASSERT_TRUE(cached.ok()) << cached.status();
  EXPECT_EQ((*cached)->name(), "counted");
  EXPECT_EQ((*cached)->example_count(), kCountedExamples);
  EXPECT_FALSE((*cached)->CheckClassIds(0, {10}).ok());
  EXPECT_EQ((*cached)->Files().FilesWithin(kCountedExamples), 2);
  for (int pass = 0; pass < 2; ++pass) {
    const auto reader = *(*cached)->MakeReader();
    for (int64_t i = kCountedExamples - 1; i >= 0; --i) {
      const auto example = reader->Read(i);
      ASSERT_TRUE(example.ok()) << example.status();
      ExpectExample(**example, i);
    }
  }
  for (int64_t i = 0; i < kCountedExamples; ++i)
    EXPECT_EQ(source.reads[i], 1) << i;
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
      for (int64_t at = 0; at < 4 * kCountedExamples; ++at) {
        ExpectExample(**reader->Read(at % kCountedExamples),
                      at % kCountedExamples);
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
