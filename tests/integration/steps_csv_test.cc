// `log_steps`: the rows of steps.csv, also after a resume.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::StartsWith;

void Train(const SmallJob& job, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--set", "log_steps=true"});
  Process run = job.Run(arguments);
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
}

// With the header first.
std::vector<std::string> RowsOf(const SmallJob& job) {
  return Lines(ReadText(job.output_dir() + "/steps.csv"));
}

void ExpectRowAStep(const std::vector<std::string>& rows, int steps) {
  ASSERT_EQ(rows.size(), 1 + steps);
  EXPECT_THAT(rows[0], StartsWith("step,loss"));
  for (int step = 1; step <= steps; ++step) {
    EXPECT_THAT(rows[step], StartsWith(std::to_string(step) + ","));
  }
}

class ResumedStepsCsvTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Pipeline, ResumedStepsCsvTest,
                         ::testing::Values("pipeline=0", "pipeline=1"));

TEST_P(ResumedStepsCsvTest, AResumeContinuesIt) {
  SmallJob job;
  Train(job, {"--set", "epochs=2", "--set", "checkpoint.keep=2", "--set",
              GetParam()});
  const std::vector<std::string> before = RowsOf(job);
  ExpectRowAStep(before, 2 * kStepsPerEpoch);

  // What came after the first epoch is to be done again.
  std::filesystem::remove_all(job.output_dir() +
                              "/checkpoint/step-000000000020");
  Train(job, {"--set", "epochs=3", "--resume", "--set", GetParam()});
  const std::vector<std::string> after = RowsOf(job);
  ExpectRowAStep(after, 3 * kStepsPerEpoch);
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + 1 + kStepsPerEpoch,
                         after.begin()));
}

TEST(StepsCsvTest, WorkersThatStepTogetherGiveOneRowAStep) {
  SmallJob job;
  Train(job, {"--set", "consistency=sync", "--set", "epochs=2"});
  // Two workers take twice the batch in a step.
  ExpectRowAStep(RowsOf(job), kStepsPerEpoch);
}

}  // namespace
}  // namespace paceline
