// The output folder: one run's at a time, and nobody else's files.
#include <signal.h>

#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// When each file of a folder was last written.
std::map<std::string, std::filesystem::file_time_type> Files(
    const std::string& folder) {
  std::map<std::string, std::filesystem::file_time_type> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    files[entry.path()] = entry.last_write_time();
  }
  return files;
}

TEST(OutputFolderTest, ASecondRunIsToldWhoHasIt) {
  SmallJob job;
  SmallJob other;
  Process run = job.Run({"--set", "epochs=100000"});
  // By then the checkpoint of the first one is there.
  ASSERT_TRUE(WaitForEpochs(run, 3)) << run.Errors();
  for (const pid_t pid : run.Session()) {
    kill(pid, SIGSTOP);
    // A process stops a moment later, and may write until then.
    ASSERT_TRUE(WaitUntil(kJobLimit, [&] {
      return absl::StrContains(ReadText(absl::StrCat("/proc/", pid, "/status")),
                               "State:\tT");
    }));
  }
  const auto before = Files(job.output_dir());
  const auto holder =
      AllOf(HasSubstr(job.output_dir()),
            HasSubstr(absl::StrCat("in use by process ", run.pid(), " on ")));
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"run", other.path()},
        {"run", other.path(), "--resume"},
        {"validate", other.path(), "--connect"},
        {"evaluate", job.output_dir() + "/checkpoint", "--job",
         other.path()}}) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--output", job.output_dir()});
    Process second = other.Coordinator(all);
    EXPECT_EQ(second.Wait(kJobLimit), 2) << arguments[0];
    EXPECT_THAT(second.Errors(), holder) << arguments[0];
  }
  // A worker that leads, too.
  const auto cluster = HandStartedCluster::OnLoopback(other, 0, 1, 1);
  Process leader = cluster.Start(
      "worker", 0, {"--job", other.path(), "--output", job.output_dir()});
  EXPECT_EQ(leader.Wait(kJobLimit), 2);
  EXPECT_THAT(leader.Errors(), holder);
  EXPECT_EQ(Files(job.output_dir()), before);
}

TEST(OutputFolderTest, ARunSaysWhereItsResultsAreAndWhatItMoves) {
  SmallJob job;
  Process first = job.Run({"--set", "epochs=1"});
  ASSERT_EQ(first.Wait(kJobLimit), 0) << first.Errors();
  EXPECT_THAT(
      first.Errors(),
      AllOf(HasSubstr(absl::StrCat("results are in ", job.output_dir(), "\n")),
            Not(HasSubstr("moved"))));
  Process second = job.Run({"--set", "epochs=1"});
  ASSERT_EQ(second.Wait(kJobLimit), 0) << second.Errors();
  EXPECT_THAT(second.Errors(), HasSubstr(absl::StrCat(
                                   "moved ", job.output_dir(),
                                   "/checkpoint of an earlier run to ",
                                   job.output_dir(), "/checkpoint.previous")));
}

// Links where a run's files go, made by somebody who may write there.
TEST(OutputFolderTest, LinksInItAreReplacedAndNotFollowed) {
  SmallJob job;
  const std::string victim = job.folder() / "victim";
  WriteText(victim, "precious");
  const std::vector<std::string> names = {
      "result.json",       "result.json.tmp", "history.csv",
      "history.csv.tmp",   "steps.csv",       "steps.csv.tmp",
      "evaluator.csv.tmp", "logs/ps-0.log",   "logs/worker-0.log"};
  std::filesystem::create_directories(job.output_dir() + "/logs");
  for (const std::string& name : names) {
    std::filesystem::create_symlink(victim, job.output_dir() + "/" + name);
  }
  Process run = job.Run({"--set", "epochs=1", "--set", "log_steps=true",
                         "--set", "evaluator=true"});
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_EQ(ReadText(victim), "precious");
  EXPECT_EQ(job.Result().at("state"), "SUCCEEDED");
  for (const std::string& name : names) {
    EXPECT_FALSE(std::filesystem::is_symlink(job.output_dir() + "/" + name))
        << name;
  }
}

TEST(OutputFolderTest, LostCheckpointsAreTold) {
  SmallJob job;
  Process run = job.Run({"--set", "epochs=100000"});
  ASSERT_TRUE(WaitForEpochs(run, 1)) << run.Errors();
  // No folder can be made where a file is.
  const std::string checkpoints = job.output_dir() + "/checkpoint";
  std::filesystem::rename(checkpoints, checkpoints + ".away");
  WriteText(checkpoints, "");
  ASSERT_TRUE(WaitUntil(kJobLimit, [&] {
    return run.Errors().find("a checkpoint was not written") !=
           std::string::npos;
  })) << run.Errors();
  run.Signal(SIGINT);
  EXPECT_EQ(run.Wait(kJobLimit), 130);
  const nlohmann::json lost = job.Result().at("lost_checkpoints");
  EXPECT_GE(lost.at("count").get<int>(), 1);
  EXPECT_THAT(lost.at("error").get<std::string>(), HasSubstr(checkpoints));
  EXPECT_THAT(run.Errors(),
              AllOf(HasSubstr("warning: "), HasSubstr(" lost; the last")));
}

}  // namespace
}  // namespace paceline
