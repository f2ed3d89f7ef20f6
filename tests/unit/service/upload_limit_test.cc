#include "coordinator/service/upload_limit.h"

#include "coordinator/service/token_bucket.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

constexpr uint64_t kBlock = 4096;

TEST(TokenBucketTest, HoldsTheTokensOfASecond) {
  const absl::Time start = absl::FromUnixSeconds(1000);
  TokenBucket bucket(10);
  EXPECT_TRUE(bucket.IsFull(start));
  bucket.Take(10, start);
  EXPECT_FALSE(bucket.IsFull(start));
  EXPECT_EQ(bucket.TimeToWait(start), absl::ZeroDuration());
  bucket.Take(1, start);
  EXPECT_EQ(bucket.TimeToWait(start), absl::Milliseconds(100));
  EXPECT_EQ(bucket.TimeToWait(start + absl::Milliseconds(60)),
            absl::Milliseconds(40));
  // Not more, however long nobody takes any.
  const absl::Time later = start + absl::Hours(1);
  EXPECT_TRUE(bucket.IsFull(later));
  bucket.Take(12, later);
  EXPECT_EQ(bucket.TimeToWait(later), absl::Milliseconds(200));
}

TEST(TokenBucketTest, GivesItsRateInTheLongRun) {
  const absl::Time start = absl::FromUnixSeconds(1000);
  absl::Time now = start;
  TokenBucket bucket(1000);
  uint64_t taken = 0;
  for (uint64_t size = 1; taken < 100'000; size = size % 3000 + 700) {
    now += bucket.TimeToWait(now);
    bucket.Take(size, now);
    taken += size;
  }
  const double seconds = absl::ToDoubleSeconds(now - start);
  EXPECT_GE(seconds, 96);
  EXPECT_LE(seconds, 100);
}

TEST(TokenBucketTest, ARateThatNobodyReachesMakesNobodyWait) {
  const absl::Time start = absl::FromUnixSeconds(1000);
  TokenBucket bucket(kAnyUploadRate);
  bucket.Take(uint64_t{1} << 40, start);
  EXPECT_EQ(bucket.TimeToWait(start), absl::ZeroDuration());
}

TEST(UploadLimitTest, EachUserHasTheRate) {
  const absl::Time start = absl::FromUnixSeconds(1000);
  UploadLimit limit(10 * kBlock);
  // In blocks.
  UploadLimit::Answer answer = limit.Ask("ann", 10 * kBlock - 1, start);
  EXPECT_TRUE(answer.is_granted);
  EXPECT_EQ(answer.pause, absl::ZeroDuration());
  for (int i = 1; i <= 2; ++i) {
    // A refused one does not count.
    answer = limit.Ask("ann", 0, start);
    EXPECT_EQ(answer.is_granted, i == 1);
    EXPECT_EQ(answer.pause, absl::Milliseconds(100));
  }
  EXPECT_TRUE(limit.Ask("bob", kBlock - 1, start).is_granted);
  EXPECT_TRUE(
      limit.Ask("ann", kBlock, start + absl::Milliseconds(100)).is_granted);
}

TEST(UploadLimitTest, ForgetsUsersWhoPause) {
  const absl::Time start = absl::FromUnixSeconds(1000);
  UploadLimit limit(10 * kBlock);
  limit.Ask("ann", 0, start);
  limit.Ask("bob", 31 * kBlock - 1, start);
  limit.Ask("eve", 0, start + absl::Seconds(2));
  EXPECT_EQ(limit.user_count(), 2);
  EXPECT_EQ(limit.Ask("bob", 0, start + absl::Seconds(2)).pause,
            absl::Milliseconds(100));
}

}  // namespace
}  // namespace paceline
