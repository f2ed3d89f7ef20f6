#include "tests/integration/harness/test_service.h"

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/free_addresses.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {

TestService::TestService(std::vector<std::string> options,
                         std::vector<std::string> serve_options)
    : options_(std::move(options)),
      serve_options_(std::move(serve_options)),
      address_(FreeAddresses(1).front()) {
  StartCoordinator();
}

std::vector<std::string> TestService::WithOptions(
    std::vector<std::string> command) const {
  command.insert(command.end(), options_.begin(), options_.end());
  return command;
}

void TestService::StartCoordinator() {
  ProcessOptions options;
  options.command =
      WithOptions({ProgramPath("coordinator"), "serve", "--listen", address_,
                   "--store", folder_ / "store"});
  options.command.insert(options.command.end(), serve_options_.begin(),
                         serve_options_.end());
  options.output_path = folder_ / "coordinator";
  // It says when it listens.
  std::filesystem::remove(options.output_path + ".out");
  coordinator_.emplace(options);
  EXPECT_TRUE(WaitUntil(kJobLimit, [&] {
    return !coordinator_->Output().empty();
  })) << coordinator_->Errors();
}

void TestService::KillCoordinator() {
  coordinator_->Signal(SIGKILL);
  coordinator_->Wait(kJobLimit);
}

Process TestService::StartDaemon(const std::string& program,
                                 const std::string& name, int cores,
                                 const std::vector<std::string>& more) const {
  ProcessOptions options;
  options.command = {
      ProgramPath(program), absl::StrCat("--coordinator=", address_),
      absl::StrCat("--name=", name), absl::StrCat("--work=", (folder_ / name)),
      absl::StrCat("--cores=", cores)};
  options.command.insert(options.command.end(), more.begin(), more.end());
  options.command = WithOptions(std::move(options.command));
  options.environment = {{"TF_CONFIG", ""}};
  options.output_path = folder_ / name;
  return Process(options);
}

Process TestService::Start(const std::vector<std::string>& arguments,
                           const std::string& terminal) {
  ProcessOptions options;
  options.command = {ProgramPath("coordinator")};
  options.command.insert(options.command.end(), arguments.begin(),
                         arguments.end());
  options.command = WithOptions(std::move(options.command));
  options.environment = {{"PACELINE_COORDINATOR", address_}};
  options.output_path = folder_ / absl::StrCat("command-", commands_++);
  options.terminal = terminal;
  return Process(options);
}

std::string TestService::Run(const std::vector<std::string>& arguments,
                             int code) {
  Process command = Start(arguments);
  const std::optional<int> ended = command.Wait(kJobLimit);
  EXPECT_EQ(ended, code) << testing::PrintToString(arguments) << "\n"
                         << command.Errors();
  return command.Output();
}

nlohmann::json TestService::Describe(const std::string& job) {
  return nlohmann::json::parse(Run({"describe", job, "-o", "json"}), nullptr,
                               /*allow_exceptions=*/false);
}

bool TestService::WaitForState(const std::string& job,
                               const std::vector<std::string>& states) {
  return WaitUntil(kJobLimit, [&] {
    const nlohmann::json view = Describe(job);
    return view.is_object() && std::count(states.begin(), states.end(),
                                          view.value("state", "")) > 0;
  });
}

}  // namespace paceline
