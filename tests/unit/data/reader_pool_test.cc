#include "worker/data/reader_pool.h"

#include <atomic>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/data/reader_tuner.h"

namespace paceline {
namespace {

using ::testing::Each;

TEST(ReaderPoolTest, ReadsEachRowOnce) {
  ReaderPool pool;
  for (const int readers : {1, 4, 2, 8, 1}) {
    for (const int64_t count : {0, 1, 3, 100}) {
      std::vector<int> rows(count);
      std::vector<std::atomic<int>> in_use(readers);
      const absl::Status status =
          pool.Run(readers, count, [&](int reader, int64_t row) {
            EXPECT_LT(reader, readers);
            EXPECT_EQ(in_use[reader]++, 0) << "one thread at a time";
            ++rows[row];
            --in_use[reader];
            return absl::OkStatus();
          });
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_THAT(rows, Each(1));
    }
  }
}

TEST(ReaderPoolTest, ReadersWorkAtOnce) {
  ReaderPool pool;
  std::atomic<int> arrived = 0;
  // Each waits for the other.
  const absl::Status status = pool.Run(2, 2, [&](int, int64_t) {
    ++arrived;
    for (int i = 0; i < 60000 && arrived < 2; ++i) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    return arrived == 2 ? absl::OkStatus() : absl::DeadlineExceededError("");
  });
  EXPECT_TRUE(status.ok()) << status;
}

TEST(ReaderPoolTest, ReturnsTheErrorOfTheFirstRow) {
  ReaderPool pool;
  for (const int readers : {1, 2, 4}) {
    for (int round = 0; round < 50; ++round) {
      const absl::Status status =
          pool.Run(readers, 64, [&](int, int64_t row) -> absl::Status {
            // The first takes longest to fail.
            if (row == 21) absl::SleepFor(absl::Microseconds(200));
            if (row < 21) return absl::OkStatus();
            return absl::DataLossError(absl::StrCat(row));
          });
      EXPECT_EQ(status, absl::DataLossError("21"));
    }
    const absl::Status status =
        pool.Run(readers, 64, [](int, int64_t) { return absl::OkStatus(); });
    EXPECT_TRUE(status.ok()) << status;
  }
}

// Batches of 10 ms for one reader.
void MakeBatches(ReaderTuner& tuner, int count, bool waited) {
  for (int i = 0; i < count; ++i) {
    tuner.OnBatch(absl::Milliseconds(10) / tuner.readers(), waited);
  }
}

TEST(ReaderTunerTest, TakesReadersWhileTheTrainerWaits) {
  ReaderTuner tuner(4);
  EXPECT_EQ(tuner.readers(), 1);
  MakeBatches(tuner, 1, true);
  EXPECT_EQ(tuner.readers(), 2);
  MakeBatches(tuner, 1, true);
  EXPECT_EQ(tuner.readers(), 3);
  MakeBatches(tuner, 10, true);
  EXPECT_EQ(tuner.readers(), 4) << "there are no more";
}

TEST(ReaderTunerTest, GivesThemBackWhenItNoLongerDoes) {
  ReaderTuner tuner(4);
  MakeBatches(tuner, 10, true);
  MakeBatches(tuner, 10, false);
  EXPECT_EQ(tuner.readers(), 4) << "it has not waited for a moment only";
  MakeBatches(tuner, 1000, false);
  EXPECT_EQ(tuner.readers(), 1);
  MakeBatches(tuner, 1, true);
  EXPECT_EQ(tuner.readers(), 2);
}

TEST(ReaderTunerTest, StaysWithOneForExamplesThatAreReadInNoTime) {
  ReaderTuner tuner(16);
  for (int i = 0; i < 100; ++i) {
    tuner.OnBatch(absl::Microseconds(60), /*waited=*/true);
    EXPECT_EQ(tuner.readers(), 1);
  }
  // Enough for three.
  for (int i = 0; i < 100; ++i) {
    tuner.OnBatch(absl::Microseconds(900) / tuner.readers(), true);
  }
  EXPECT_EQ(tuner.readers(), 3);
}

}  // namespace
}  // namespace paceline
