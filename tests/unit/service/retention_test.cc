#include "coordinator/service/retention.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'000'000);

// A job that ended so long ago, with a log.
KeptJob Ended(const std::string& id, absl::Duration ago, uint64_t log_bytes) {
  return {.id = id, .ended = kNow - ago, .log_bytes = log_bytes};
}

// The ids of the forgotten ones.
std::string Forgotten(const RetentionLimits& limits,
                      const std::vector<KeptJob>& jobs) {
  return absl::StrJoin(JobsToForget(limits, jobs, kNow), " ",
                       [](std::string* text, const ForgottenJob& job) {
                         absl::StrAppend(text, job.id);
                       });
}

TEST(RetentionTest, KeepsAllByDefault) {
  EXPECT_TRUE(RetentionLimits().KeepsAll());
  EXPECT_EQ(Forgotten({}, {Ended("a", absl::Hours(1'000'000), 1 << 30)}), "");
}

TEST(RetentionTest, ForgetsOldJobs) {
  const RetentionLimits limits = {.age = absl::Hours(2)};
  EXPECT_FALSE(limits.KeepsAll());
  const std::vector<KeptJob> jobs = {Ended("old", absl::Hours(3), 0),
                                     Ended("just", absl::Hours(2), 0),
                                     Ended("young", absl::Hours(1), 0),
                                     {.id = "running"}};
  EXPECT_EQ(Forgotten(limits, jobs), "old just");
  EXPECT_EQ(JobsToForget(limits, jobs, kNow)[0].reason,
            "it ended 3h ago, and jobs are kept for 2h");
}

TEST(RetentionTest, ForgetsTheOldestUntilTheOthersAreSmallEnough) {
  std::vector<KeptJob> jobs = {Ended("c", absl::Hours(1), 40 << 20),
                               Ended("a", absl::Hours(3), 40 << 20),
                               Ended("b", absl::Hours(2), 40 << 20)};
  EXPECT_EQ(Forgotten({.bytes = 120 << 20}, jobs), "");
  EXPECT_EQ(Forgotten({.bytes = 119 << 20}, jobs), "a");
  EXPECT_EQ(Forgotten({.bytes = 0}, jobs), "a b c");
  EXPECT_THAT(JobsToForget({.bytes = 119 << 20}, jobs, kNow)[0].reason,
              HasSubstr("120 MiB, of which 119 MiB are kept"));
  // Old ones go first, and make room.
  EXPECT_EQ(Forgotten({.age = absl::Hours(3), .bytes = 80 << 20}, jobs), "a");
  // One that has not ended counts.
  jobs.push_back({.id = "running", .log_bytes = 80 << 20});
  EXPECT_EQ(Forgotten({.bytes = 120 << 20}, jobs), "a b");
  EXPECT_EQ(Forgotten({.bytes = 0}, jobs), "a b c");
}

TEST(RetentionTest, SharedFilesGoWithTheLastJobThatHasThem) {
  std::vector<KeptJob> jobs = {Ended("a", absl::Hours(3), 1),
                               Ended("b", absl::Hours(2), 1),
                               Ended("c", absl::Hours(1), 1)};
  jobs[0].files = {{"data", 100}, {"model", 10}};
  jobs[1].files = {{"data", 100}};
  // 113 bytes; 102 without a, 1 without b.
  EXPECT_EQ(Forgotten({.bytes = 112}, jobs), "a");
  EXPECT_EQ(Forgotten({.bytes = 102}, jobs), "a");
  EXPECT_EQ(Forgotten({.bytes = 101}, jobs), "a b");
}

}  // namespace
}  // namespace paceline
