// How orders become processes.

#include "common/daemon/task_command.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "gmock/gmock.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class TaskCommandTest : public ::testing::Test {
 protected:
  TaskCommandTest() {
    std::filesystem::remove_all(work_);
    options_.place.program_folder = "/programs";
  }

  absl::StatusOr<ChildOptions> Command(const HeldTask& task) {
    const auto paths = TaskPaths::Of(work_, task);
    EXPECT_TRUE(paths.ok()) << paths.status();
    return CommandFor(order_, task, *paths, options_, "10.0.0.1", {1});
  }

  const std::string work_ = ::testing::TempDir() + "task_command_test";
  const std::string home_ = work_ + "/jobs/job-1";
  DaemonOptions options_;
  v1::TaskOrder order_;
};

TEST_F(TaskCommandTest, AWorkerHasItsLeaderAndItsThreads) {
  order_.set_leader_address("10.0.0.9:4000");
  order_.set_secret("0123456789abcdef");
  order_.mutable_resources()->set_millicores(1001);
  options_.total.set_gpus(2);
  options_.data_folders = {"/data/mnist"};
  options_.data_access.cache = "/cache";
  options_.data_access.cache_bytes = 1000;
  options_.data_access.from = {"none"};
  const auto child = Command({"job-1", 3, {TaskType::kWorker, 2}});
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_THAT(child->command,
              ElementsAre("/programs/worker", "--coordinator=10.0.0.9:4000",
                          "--index=2", "--may_read=.", "--may_read=/data/mnist",
                          "--threads=2", "--data-cache=/cache",
                          "--data-cache-size=1000", "--data-from=none",
                          "--listen=10.0.0.1:0"));
  EXPECT_THAT(
      child->environment,
      ElementsAre(Pair("TF_CONFIG", ""), Pair("PACELINE_SECRET_FILE", ""),
                  Pair("CUDA_VISIBLE_DEVICES", "1")));
  EXPECT_EQ(child->line, "0123456789abcdef");
  EXPECT_EQ(child->working_folder, home_ + "/files");
  EXPECT_EQ(child->log_path, home_ + "/logs/3/worker-2.log");
}

TEST_F(TaskCommandTest, AWorkerWithoutALimitHasAThreadForEachCore) {
  order_.set_leader_address("10.0.0.9:4000");
  options_.total.set_millicores(6000);
  const auto child = Command({"job-1", 1, {TaskType::kWorker, 0}});
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_THAT(child->command, testing::Contains("--threads=6"));
}

TEST_F(TaskCommandTest, AParameterServerHasNoThreadsOption) {
  order_.set_leader_address("[::1]:4000");
  const auto child = Command({"job-1", 1, {TaskType::kPs, 0}});
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_THAT(child->command,
              ElementsAre("/programs/ps_server", "--coordinator=[::1]:4000",
                          "--index=0", "--may_read=.", "--listen=10.0.0.1:0"));
}

TEST_F(TaskCommandTest, ALeaderLeadsTheJobFile) {
  order_.add_overrides("training.epochs=2");
  options_.data_folders = {"/data/mnist"};
  options_.data_access.cache = "/cache";
  options_.data_access.cache_bytes = 1000;
  options_.data_access.from = {"https://host/data/"};
  const auto child = Command({"job-1", 1, {TaskType::kChief, 0}});
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_THAT(
      child->command,
      ElementsAre("/programs/coordinator", "lead", "job.yaml", "--output=out",
                  "--write_port=" + home_ + "/logs/1/leader.port",
                  "--write_progress=" + home_ + "/logs/1/leader.progress",
                  "--set=training.epochs=2", "--data=/data/mnist",
                  "--data-cache=/cache", "--data-cache-size=1000",
                  "--data-from=https://host/data/", "--listen=10.0.0.1:0"));
}

TEST_F(TaskCommandTest, OnlyALeaderGetsAllowExec) {
  options_.allows_exec = true;
  order_.set_leader_address("10.0.0.9:4000");
  const auto leader = Command({"job-1", 1, {TaskType::kChief, 0}});
  ASSERT_TRUE(leader.ok()) << leader.status();
  EXPECT_THAT(leader->command, testing::Contains("--allow-exec"));
  const auto worker = Command({"job-1", 1, {TaskType::kWorker, 0}});
  ASSERT_TRUE(worker.ok()) << worker.status();
  EXPECT_THAT(worker->command, testing::Not(testing::Contains("--allow-exec")));
}

TEST_F(TaskCommandTest, WhatIsWrongWithAnOrderIsAnError) {
  order_.set_leader_address("--help");
  EXPECT_THAT(
      std::string(
          Command({"job-1", 1, {TaskType::kWorker, 0}}).status().message()),
      HasSubstr("leader_address: \"--help\""));
  order_.set_leader_address("a:1");
  order_.set_secret("short");
  EXPECT_FALSE(Command({"job-1", 1, {TaskType::kWorker, 0}}).ok());
  EXPECT_THAT(
      std::string(TaskPaths::Of(work_, {"../x", 1, {TaskType::kWorker, 0}})
                      .status()
                      .message()),
      HasSubstr("job: \"../x\""));
}

}  // namespace
}  // namespace paceline
