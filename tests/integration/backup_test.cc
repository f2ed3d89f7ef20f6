// BackupAndRestore: a killed job that is started again goes on where it was.
#include <signal.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr int kEpochs = 60;

// A job whose results are the same each time, with a BackupAndRestore.
std::vector<std::string> Backed(const std::string& strategy,
                                const std::string& config) {
  return {"--set",
          absl::StrCat("strategy=", strategy),
          "--set",
          strategy == "mirrored" ? "cluster={worker: 1}" : "cluster.worker=1",
          "--set",
          absl::StrCat("epochs=", kEpochs),
          "--set",
          "checkpoint=null",
          "--set",
          absl::StrCat("callbacks=[{BackupAndRestore: ", config, "}]")};
}

class BackupTest : public ::testing::TestWithParam<std::string> {};

TEST_P(BackupTest, AKilledJobGoesOnWhereItWas) {
  const auto arguments =
      Backed(GetParam(), "{save_freq: 7, delete_checkpoint: false}");
  SmallJob whole;
  Process unbroken = whole.Run(arguments);
  EXPECT_EQ(unbroken.Wait(kJobLimit), 0) << unbroken.Errors();
  SmallJob job;
  {
    Process run = job.Run(arguments);
    ASSERT_TRUE(WaitForEpochs(run, 3)) << run.Errors();
    run.Signal(SIGKILL);
    ASSERT_EQ(run.Wait(kJobLimit), 128 + SIGKILL);
  }
  Process again = job.Run(arguments);
  EXPECT_EQ(again.Wait(kJobLimit), 0) << again.Errors();
  EXPECT_THAT(again.Errors(), HasSubstr("goes on from "));
  EXPECT_THAT(again.Output(), Not(HasSubstr(absl::StrCat("Epoch 1/"))));
  EXPECT_THAT(Column(job.Result(), "epoch"), SizeIs(kEpochs));
  EXPECT_EQ(job.LastShardTensors(), whole.LastShardTensors());
}

INSTANTIATE_TEST_SUITE_P(Strategies, BackupTest,
                         ::testing::Values("parameter_server", "mirrored"));

TEST(Backup, StaysIfTheModelIsNotWritten) {
  SmallJob job;
  Process run = job.Run(Backed("parameter_server", "{}"));
  ASSERT_TRUE(WaitForEpochs(run, 1)) << run.Errors();
  // Nothing can be written in the place of a folder that is not empty.
  std::filesystem::create_directories(job.output_dir() + "/model.keras/other");
  EXPECT_EQ(run.Wait(kJobLimit), 1) << run.Errors();
  EXPECT_THAT(run.Errors(), HasSubstr(job.output_dir() + "/model.keras"));
  EXPECT_TRUE(std::filesystem::exists(job.output_dir() + "/checkpoint"));
}

TEST(Backup, IsDeletedOnceTheJobHasSucceeded) {
  SmallJob job;
  const auto arguments = Backed("parameter_server", "{}");
  for (int i = 0; i < 2; ++i) {
    Process run = job.Run(arguments);
    EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
    EXPECT_FALSE(std::filesystem::exists(job.output_dir() + "/checkpoint"));
    EXPECT_TRUE(std::filesystem::exists(job.output_dir() + "/model.keras"));
    // So the same command begins anew.
    EXPECT_THAT(run.Output(), HasSubstr(absl::StrCat("Epoch 1/", kEpochs)));
    EXPECT_THAT(run.Errors(), Not(HasSubstr("goes on from ")));
  }
}

TEST(Backup, StaysIfTheJobFails) {
  SmallJob job;
  auto arguments = Backed("mirrored", "{}");
  const std::string callbacks =
      "callbacks=[{BackupAndRestore: {}}, {CSVLogger: {filename: epochs.csv}}]";
  arguments.back() = callbacks;
  Process run = job.Run(arguments);
  ASSERT_TRUE(WaitForEpochs(run, 2)) << run.Errors();
  std::filesystem::remove(job.output_dir() + "/epochs.csv");
  std::filesystem::create_directories(job.output_dir() + "/epochs.csv/x");
  EXPECT_EQ(run.Wait(kJobLimit), 1) << run.Errors();
  EXPECT_TRUE(std::filesystem::exists(job.output_dir() + "/checkpoint"));
  std::filesystem::remove_all(job.output_dir() + "/epochs.csv");
  Process again = job.Run(arguments);
  EXPECT_EQ(again.Wait(kJobLimit), 0) << again.Errors();
  EXPECT_THAT(Column(job.Result(), "epoch"), SizeIs(kEpochs));
  EXPECT_FALSE(std::filesystem::exists(job.output_dir() + "/checkpoint"));
}

}  // namespace
}  // namespace paceline
