// Programs of the user's: their input and output, how they end, and that
// nothing stays of them.
#include "common/process/user_program.h"

#include <signal.h>
#include <sys/types.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<ProgramOutput> Execute(
    std::vector<std::string> arguments, std::string input = "",
    absl::Duration timeout = absl::Seconds(20)) {
  auto command = UserProgram::Start(
      {std::move(arguments), {"GREETING=hello"}, std::move(input), timeout});
  if (!command.ok()) return command.status();
  for (;;) {
    if (auto ended = (*command)->Poll()) return *std::move(ended);
    absl::SleepFor(absl::Milliseconds(2));
  }
}

absl::StatusOr<ProgramOutput> Shell(
    const std::string& script, std::string input = "",
    absl::Duration timeout = absl::Seconds(20)) {
  return Execute({"/bin/sh", "-c", script}, std::move(input), timeout);
}

// Whether the process goes away soon.
bool Ends(pid_t pid) {
  const absl::Time deadline = MonotonicNow() + absl::Seconds(10);
  while (MonotonicNow() < deadline) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string number;
    std::string name;
    std::string state;
    // A zombie waits only for init.
    if (!(stat >> number >> name >> state) || state == "Z") return true;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return false;
}

TEST(UserProgram, GetsItsInputAndIsFoundByPath) {
  const auto output = Execute({"cat"}, "a line\n");
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(output->out, "a line\n");
  EXPECT_EQ(output->error, "");
}

TEST(UserProgram, TakesMoreThanAPipeHolds) {
  const std::string text(900'000, 'x');
  const auto output = Execute({"cat"}, text);
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(output->out, text);
}

TEST(UserProgram, NeedNotReadItsInput) {
  const auto output =
      Shell("echo done; echo odd >&2", std::string(4 << 20, 'x'));
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(output->out, "done\n");
  EXPECT_EQ(output->error, "odd\n");
}

TEST(UserProgram, HasNoShell) {
  const auto output = Execute({"echo", "$HOME; exit 3"});
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(output->out, "$HOME; exit 3\n");
}

TEST(UserProgram, ThatCannotBeExecutedSaysWhy) {
  const auto missing = Execute({"/no/such/program"});
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.status().message()),
              HasSubstr("cannot be executed"));
  EXPECT_EQ(Execute({"/etc/passwd"}).status().code(),
            absl::StatusCode::kPermissionDenied);
}

TEST(UserProgram, ThatFailsSaysHow) {
  const auto failed = Shell("echo fine; echo 'no such rate' >&2; exit 3");
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(failed.status().message(), "exit code 3; it said: no such rate");
  EXPECT_EQ(Shell("printf '\\033[2Jx'; kill -9 $$").status().message(),
            "signal 9 killed it; it said: \\x1b[2Jx");
  EXPECT_EQ(Shell("exit 1").status().message(), "exit code 1; it said nothing");
}

// But for PATH, by which it is found.
TEST(UserProgram, HasTheEnvironmentThatItIsGiven) {
  const auto output = Execute({"env"});
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(output->out, "GREETING=hello\n");
}

TEST(UserProgram, ThatHangsIsKilledWithItsChildren) {
  const auto hung = Shell("sleep 1000 & echo $!; wait", "", absl::Seconds(3));
  EXPECT_EQ(hung.status().code(), absl::StatusCode::kDeadlineExceeded);
  const std::string message(hung.status().message());
  EXPECT_THAT(message, HasSubstr("it took more than 3 s and was killed"));
  const pid_t child = std::atoi(message.substr(message.rfind(' ')).c_str());
  ASSERT_GT(child, 1);
  EXPECT_TRUE(Ends(child));
}

// They hold its output, which does not delay the answer.
TEST(UserProgram, LeavesNoChildren) {
  const auto output = Shell("sleep 1000 & echo $!");
  ASSERT_TRUE(output.ok()) << output.status();
  const pid_t child = std::atoi(output->out.c_str());
  ASSERT_GT(child, 1);
  EXPECT_TRUE(Ends(child));
}

TEST(UserProgram, IsKilledByTheDestructor) {
  const std::string path = ::testing::TempDir() + "user_program_test_pid";
  std::remove(path.c_str());
  pid_t child = 0;
  {
    const auto command =
        UserProgram::Start({{"/bin/sh", "-c", "echo $$ > $0; sleep 1000", path},
                            {},
                            "",
                            absl::Seconds(1000)});
    ASSERT_TRUE(command.ok());
    const absl::Time deadline = MonotonicNow() + absl::Seconds(10);
    while (child == 0 && MonotonicNow() < deadline) {
      EXPECT_FALSE((*command)->Poll());
      std::ifstream(path) >> child;
    }
  }
  ASSERT_GT(child, 1);
  EXPECT_TRUE(Ends(child));
}

TEST(UserProgram, ThatPrintsWithoutEndIsKilled) {
  const auto output = Execute({"yes"});
  EXPECT_EQ(output.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(output.status().message()),
              HasSubstr("it printed more than 1048576 bytes and was killed"));
  EXPECT_LT(output.status().message().size(), 1000);
}

// Those of the parent are blocked.
TEST(UserProgram, CanBeEndedBySignals) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  EXPECT_THAT(std::string(Shell("kill -TERM $$; sleep 9").status().message()),
              HasSubstr("signal 15 killed it"));
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace
}  // namespace paceline
