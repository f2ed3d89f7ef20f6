// Somebody who follows a job of a service on a terminal sees what `coordinator
// run` shows.
#include <signal.h>

#include <algorithm>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/terminal.h"
#include "tests/integration/harness/test_service.h"
#include "tests/integration/harness/time_limit.h"
#include "tests/screen_lines.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// One worker, so that two runs give the same numbers; steps of one example, so
// that an epoch takes more than a second.
const std::vector<std::string> kSlowJob = {"--set", "cluster.worker=1", "--set",
                                           "batch_size_per_replica=1"};

// The lines of the job's leader on a terminal, from its first epoch to its
// result, without times.
std::vector<std::string> Shown(const std::string& written) {
  static const std::regex* const kTime =
      new std::regex("[0-9]+(s|ms|us)(?![a-z])");
  std::vector<std::string> lines = ScreenLines(written);
  const auto begins = [](const std::string& line) {
    return absl::StartsWith(line, "Epoch 1/");
  };
  const auto ends = [](const std::string& line) {
    return absl::StartsWith(line, "loss: ");
  };
  const auto first = std::find_if(lines.begin(), lines.end(), begins);
  const auto last = std::find_if(first, lines.end(), ends);
  EXPECT_NE(last, lines.end()) << written;
  std::vector<std::string> shown;
  for (auto line = first; line != lines.end(); ++line) {
    shown.push_back(std::regex_replace(*line, *kTime, "TIME"));
    if (line == last) break;
  }
  return shown;
}

class FollowTest : public testing::Test {
 protected:
  FollowTest()
      : ps_(service_.StartDaemon("ps_server", "ps-daemon")),
        worker_(service_.StartDaemon("worker", "worker-daemon")) {
    WriteExamples(job_.folder().path(), "train", kExamples);
    EXPECT_TRUE(WaitUntil(
        kJobLimit,
        [this] {
          return Lines(service_.Run({"members", "-o", "name"})).size() == 2;
        }))
        << ps_.Errors() << worker_.Errors();
  }

  static std::vector<std::string> With(std::vector<std::string> command,
                                       const std::vector<std::string>& more) {
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  // What `coordinator run` shows of the job.
  std::string RunOn(Terminal& terminal, const std::vector<std::string>& more) {
    ProcessOptions options;
    options.command = With({ProgramPath("coordinator"), "run", job_.path(),
                            "--output", job_.output_dir()},
                           more);
    options.environment = {{"TF_CONFIG", ""}};
    options.terminal = terminal.path();
    Process run(options);
    EXPECT_EQ(run.Wait(kJobLimit), 0) << terminal.written();
    return Settled(terminal);
  }

  // What was written, once the terminal has read it all.
  static std::string Settled(const Terminal& terminal) {
    size_t size = 0;
    absl::Time changed = absl::Now();
    WaitUntil(kJobLimit, [&] {
      const size_t last = std::exchange(size, terminal.written().size());
      if (size != last) changed = absl::Now();
      return size > 0 && absl::Now() - changed > absl::Milliseconds(500);
    });
    return terminal.written();
  }

  static constexpr int kExamples = 10'000;
  SmallJob job_;
  TestService service_;
  Process ps_;
  Process worker_;
};

TEST_F(FollowTest, DrawsWhatRunDraws) {
  Terminal of_run;
  const std::vector<std::string> expected = Shown(RunOn(of_run, kSlowJob));
  Terminal terminal;
  Process submit = service_.Start(
      With({"submit", job_.path(), "--follow"}, kSlowJob), terminal.path());
  ASSERT_EQ(submit.Wait(kJobLimit), 0) << terminal.written();
  const std::string written = Settled(terminal);
  EXPECT_EQ(Shown(written), expected);
  ASSERT_EQ(expected.size(), 8);
  // There were bars while an epoch went on.
  EXPECT_THAT(written, ContainsRegex("[1-9][0-9]{0,3}/10000"));
  EXPECT_THAT(ScreenLines(written).back(), HasSubstr("coordinator download "));
}

TEST_F(FollowTest, WhoComesLateSeesTheEpochAndMayLeave) {
  const std::string id(absl::StripSuffix(
      service_.Run(
          With({"submit", job_.path(), "--set", "epochs=1000"}, kSlowJob)),
      "\n"));
  ASSERT_TRUE(WaitUntil(kJobLimit, [&] {
    return absl::StrContains(service_.Run({"logs", id}), "Epoch 2/1000");
  }));
  Terminal terminal;
  Process logs =
      service_.Start({"logs", "-f", id, "--tail", "0"}, terminal.path());
  EXPECT_TRUE(WaitUntil(kJobLimit, [&] {
    return absl::StrContains(terminal.written(), "/10000");
  })) << terminal.written();
  logs.Signal(SIGINT);
  EXPECT_EQ(logs.Wait(kJobLimit), 130);
  const std::vector<std::string> lines = ScreenLines(Settled(terminal));
  EXPECT_EQ(lines.back(),
            absl::StrCat("job ", id,
                         " goes on; come back with: coordinator logs -f ", id));
  // The bar has a line of its own.
  EXPECT_THAT(lines.at(lines.size() - 2), ContainsRegex("^ *[0-9]+/10000 "));
  EXPECT_EQ(service_.Describe(id).at("state"), "RUNNING");
  service_.Run({"stop", id, "--wait"});
}

// A log is read by programs, too.
TEST_F(FollowTest, ElsewhereThanOnATerminalThereAreLines) {
  Process submit =
      service_.Start({"submit", job_.path(), "--follow", "--set", "verbose=1"});
  ASSERT_EQ(submit.Wait(kJobLimit), 0) << submit.Errors();
  EXPECT_THAT(submit.Output(),
              AllOf(ContainsRegex("Epoch 3/3\n[0-9]+/[0-9]+ - "),
                    Not(HasSubstr("\b"))));
}

TEST_F(FollowTest, SaysWhichTasksHaveLogs) {
  const std::string id(
      absl::StripSuffix(service_.Run({"submit", job_.path()}), "\n"));
  Process logs = service_.Start({"logs", id, "--task", "worker-9"});
  EXPECT_EQ(logs.Wait(kJobLimit), 2);
  EXPECT_EQ(logs.Errors(),
            "error: --task: \"worker-9\"; expected a task of the job: leader, "
            "ps-0, worker-0 to worker-1\n");
  service_.Run({"wait", id});
}

}  // namespace
}  // namespace paceline
