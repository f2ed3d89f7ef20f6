// What the callback BackupAndRestore makes of a job.
#include "common/job/backup.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/config/json_value.h"
#include "common/job/job_fields.h"
#include "common/job/job_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using ::testing::HasSubstr;

constexpr char kBackupJob[] = R"(strategy: mirrored
model: {layers: [{Input: {shape: [4]}}, {Dense: {units: 2}}]}
loss: mse
optimizer: sgd
data: {train: {idx: {features: f, labels: l}}, validation_split: 0.5}
batch_size_per_replica: 8
)";

// A job whose BackupAndRestore has this config.
absl::StatusOr<v1::Job> ReadBackupJob(const std::string& config,
                                      const std::string& more = "") {
  return ReadJob(absl::StrCat(kBackupJob,
                              "callbacks: [TerminateOnNaN, {BackupAndRestore: ",
                              config, "}]\n", more),
                 "/jobs/backup.yaml", {}, {.check_files = false});
}

std::string BackupError(const std::string& config,
                        const std::string& more = "") {
  return std::string(ReadBackupJob(config, more).status().message());
}

TEST(Backup, IsThePolicyOfTheJobsCheckpoints) {
  const auto job = ReadBackupJob("{backup_dir: checkpoint}");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->checkpoint().every_epochs(), 1);
  EXPECT_EQ(job->checkpoint().every_steps(), 0);
  EXPECT_EQ(job->checkpoint().keep(), 1);
  EXPECT_TRUE(BackupOf(*job)->delete_checkpoint);
  const auto again = ReadJob(ToJson(WriteJob(*job)).dump(), "/jobs/again.yaml",
                             {}, {.check_files = false});
  EXPECT_TRUE(again.ok()) << again.status();
  const auto often = ReadBackupJob(
      "{save_freq: 50, double_checkpoint: true, delete_checkpoint: false}");
  ASSERT_TRUE(often.ok()) << often.status();
  EXPECT_EQ(often->checkpoint().every_epochs(), 0);
  EXPECT_EQ(often->checkpoint().every_steps(), 50);
  EXPECT_EQ(often->checkpoint().keep(), 2);
  EXPECT_FALSE(BackupOf(*often)->delete_checkpoint);
  const auto none =
      ReadJob(kBackupJob, "/jobs/none.yaml", {}, {.check_files = false});
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_FALSE(BackupOf(*none));
  EXPECT_FALSE(none->has_checkpoint());
}

TEST(Backup, LeavesTheJobsOwnPolicyAndItsCheckpoints) {
  const std::string own = "checkpoint: {every_epochs: 3, keep: 5}\n";
  const auto job = ReadBackupJob("{delete_checkpoint: false}", own);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->checkpoint().every_epochs(), 3);
  EXPECT_EQ(job->checkpoint().keep(), 5);
  for (const char* const like_its_own :
       {"checkpoint: {}\n", "checkpoint: {every_epochs: 1, keep: 1}\n"}) {
    EXPECT_THAT(BackupError("{}", like_its_own),
                HasSubstr("callbacks[1].delete_checkpoint: true"));
  }
  EXPECT_THAT(BackupError("{}", own),
              HasSubstr("callbacks[1].delete_checkpoint: true, but the job's "
                        "own `checkpoint` keeps checkpoints; expected false"));
}

TEST(Backup, RefusesWhatItCannotDo) {
  EXPECT_THAT(BackupError("{}}, {BackupAndRestore: {}"),
              HasSubstr("callbacks[2]: BackupAndRestore is there twice"));
  EXPECT_THAT(BackupError("{backup_dir: /tmp/backup}"),
              HasSubstr("callbacks[1].backup_dir: "));
  for (const char* const often : {"0", "-3", "1.5", "false", "batch", "[]"}) {
    EXPECT_THAT(BackupError(absl::StrCat("{save_freq: ", often, "}")),
                HasSubstr("callbacks[1].save_freq: "))
        << often;
  }
  EXPECT_THAT(BackupError("{}", "evaluator: true\n"),
              HasSubstr("callbacks: BackupAndRestore deletes checkpoints, "
                        "which an evaluator evaluates"));
  EXPECT_EQ(BackupError("{delete_checkpoint: false}", "evaluator: true\n"), "");
}

}  // namespace
}  // namespace paceline
