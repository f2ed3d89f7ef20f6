// What the options of a task's program ask for.

#include "common/task/task_program.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"

namespace paceline {
namespace {

bool IsDaemon(std::vector<std::string> arguments) {
  CLI::App app;
  TaskProgram program(TaskType::kWorker);
  program.AddOptions(app);
  app.parse(std::move(arguments));
  return program.IsDaemon();
}

TEST(TaskProgram, IsADaemonIfItHasACoordinatorAndNoIndex) {
  EXPECT_TRUE(IsDaemon({"--coordinator=127.0.0.1:2222"}));
  EXPECT_FALSE(IsDaemon({"--coordinator=127.0.0.1:2222", "--index=0"}));
  EXPECT_FALSE(IsDaemon({"--index=0"}));
  EXPECT_FALSE(IsDaemon({}));
}

}  // namespace
}  // namespace paceline
