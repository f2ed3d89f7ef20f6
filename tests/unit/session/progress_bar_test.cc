#include "common/session/leader/progress_bar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>
#include <utility>

#include "common/base/file.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::Time kStart = absl::UnixEpoch();

// `values` is a list of names and numbers. Those of the validation come apart.
void ReadLogs(const json& values, Logs* logs, Logs* validation_logs) {
  for (const json& entry : values) {
    const auto name = entry[0].get<std::string>();
    const double number = entry[1].is_null()
                              ? std::numeric_limits<double>::quiet_NaN()
                              : entry[1].get<double>();
    Logs* const target = name.starts_with("val_") ? validation_logs : logs;
    target->emplace_back(name, number);
  }
}

v1::Job MakeJob(int epochs, v1::Verbose verbose = v1::VERBOSE_UNSPECIFIED,
                v1::ProgressStyle style = v1::PROGRESS_STYLE_UNSPECIFIED) {
  v1::Job job;
  job.set_epochs(epochs);
  job.set_verbose(verbose);
  job.set_progress_style(style);
  return job;
}

// What is shown of an epoch, or an evaluation, in progress_bar_expected.json.
std::string Show(const json& epoch, v1::Verbose verbose,
                 v1::ProgressStyle style) {
  const bool is_test = epoch["is_evaluation"];
  std::ostringstream out;
  absl::Time now = kStart;
  ProgressBar bar(
      &out, /*is_terminal=*/false,
      // An evaluation after several epochs has no title.
      MakeJob(is_test ? 3 : epoch["epochs"].get<int>(), verbose, style),
      nullptr, [&] { return now; });
  if (is_test) {
    bar.BeginTest();
  } else {
    bar.BeginEpoch(epoch["epoch"]);
  }
  int64_t steps = 0;
  for (const json& update : epoch["updates"]) {
    now = kStart + absl::Seconds(update[0].get<double>());
    ProgressView view;
    view.phase = is_test ? v1::PHASE_TEST : v1::PHASE_TRAIN;
    view.epoch = epoch["epoch"];
    steps = update[1];
    view.steps_done = steps;
    view.steps_total = epoch["total"];
    ReadLogs(update[2], &view.logs, nullptr);
    bar.Update(view);
  }
  now = kStart + absl::Seconds(epoch["end"][0].get<double>());
  EpochRecord record;
  record.epoch = epoch["epoch"];
  const int64_t total = epoch["total"];
  record.steps = total > 0 ? total : steps;
  ReadLogs(epoch["end"][1], &record.logs, &record.validation_logs);
  if (is_test) {
    bar.EndTest(record.steps, record.logs);
  } else {
    bar.EndEpoch(record);
  }
  return out.str();
}

TEST(ProgressBarTest, WritesTheBytesOfKeras) {
  const auto text = ReadFile(
      PACELINE_SOURCE_DIR "/tests/interop/progress_bar_expected.json", 1 << 20);
  ASSERT_TRUE(text.ok()) << text.status();
  const json expected = json::parse(*text);
  ASSERT_GE(expected["cases"].size(), 13u);
  for (const json& epoch : expected["cases"]) {
    SCOPED_TRACE(epoch["name"].get<std::string>());
    for (const auto& [key, style] :
         {std::pair("keras3", v1::PROGRESS_STYLE_KERAS3),
          std::pair("keras2", v1::PROGRESS_STYLE_KERAS2)}) {
      SCOPED_TRACE(key);
      EXPECT_EQ(Show(epoch, v1::VERBOSE_BAR, style),
                epoch[key]["bar"].get<std::string>());
      EXPECT_EQ(Show(epoch, v1::VERBOSE_LINES, style),
                epoch[key]["lines"].get<std::string>());
      EXPECT_EQ(Show(epoch, v1::VERBOSE_SILENT, style), "");
    }
  }
}

// An epoch of one step.
std::string ShowStep(bool is_terminal, const v1::Job& job) {
  std::ostringstream out;
  ProgressBar bar(&out, is_terminal, job);
  bar.BeginEpoch(0);
  bar.Update({v1::PHASE_TRAIN, 0, 1, 1, {{"loss", 2}}});
  EpochRecord record;
  record.steps = 1;
  bar.EndEpoch(record);
  return out.str();
}

TEST(ProgressBarTest, ShowsBarsOnATerminalUnlessTheJobSaysWhat) {
  EXPECT_THAT(ShowStep(true, MakeJob(1)), HasSubstr("━━"));
  EXPECT_THAT(ShowStep(false, MakeJob(1)), Not(HasSubstr("━━")));
  EXPECT_THAT(ShowStep(true, MakeJob(1, v1::VERBOSE_LINES)),
              Not(HasSubstr("━━")));
  EXPECT_THAT(ShowStep(false, MakeJob(1, v1::VERBOSE_BAR)), HasSubstr("━━"));
  EXPECT_EQ(ShowStep(true, MakeJob(2, v1::VERBOSE_SILENT)), "");
}

TEST(ProgressBarTest, WithoutAStreamShowsNothing) {
  ProgressBar bar(nullptr, /*is_terminal=*/true, MakeJob(2, v1::VERBOSE_BAR));
  bar.BeginEpoch(0);
  bar.Update({v1::PHASE_TRAIN, 0, 1, 5, {}});
  bar.EndEpoch(EpochRecord());
}

TEST(ProgressBarTest, WritesTheLineOfTheFormatsPage) {
  std::ostringstream out;
  absl::Time now = kStart;
  ProgressBar bar(&out, /*is_terminal=*/true, MakeJob(1), nullptr,
                  [&] { return now; });
  bar.BeginEpoch(0);
  ProgressView view{v1::PHASE_TRAIN, 0, 1, 5, {{"loss", 2}, {"accuracy", 0}}};
  bar.Update(view);
  now += absl::Milliseconds(62);
  view.steps_done = 2;
  view.logs = {{"loss", 1.515}, {"accuracy", 0.125}};
  bar.Update(view);
  EXPECT_THAT(
      out.str(),
      HasSubstr("\x1b[1m2/5\x1b[0m \x1b[32m━━━━━━━━\x1b[0m\x1b[37m━━━━━━━━━━━━"
                "\x1b[0m \x1b[1m0s\x1b[0m 62ms/step - accuracy: 0.1250 - "
                "loss: 1.5150"));
}

TEST(ProgressBarTest, TimesOnlyTheStepsSinceAResume) {
  std::ostringstream out;
  absl::Time now = kStart;
  ProgressBar bar(&out, /*is_terminal=*/false, MakeJob(1), nullptr,
                  [&] { return now; });
  bar.BeginEpoch(0, /*steps_done=*/20);
  now += absl::Seconds(160);
  EpochRecord record;
  record.steps = 100;
  bar.EndEpoch(record);
  EXPECT_EQ(out.str(), "100/100 - 160s - 2s/step\n");
}

TEST(ProgressBarTest, LeavesTheTimeBeforeTheFirstJumpOut) {
  std::ostringstream out;
  absl::Time now = kStart;
  ProgressBar bar(&out, /*is_terminal=*/true, MakeJob(1), nullptr,
                  [&] { return now; });
  bar.BeginEpoch(0, /*steps_done=*/20);
  now += absl::Seconds(100);
  bar.Update({v1::PHASE_TRAIN, 0, 50, 100, {}});
  now += absl::Seconds(50);
  EpochRecord record;
  record.steps = 100;
  bar.EndEpoch(record);
  EXPECT_THAT(out.str(), HasSubstr("\x1b[1m150s\x1b[0m 1s/step\n"));
}

// Of 70 steps of 0.1 ms most are reported together, and the others at once
// after them.
TEST(ProgressBarTest, DividesNoMomentByTheStepsOfAHeartbeat) {
  std::ostringstream out;
  absl::Time now = kStart;
  ProgressBar bar(&out, /*is_terminal=*/true, MakeJob(1), nullptr,
                  [&] { return now; });
  bar.BeginEpoch(0);
  now += absl::Microseconds(6970);
  bar.Update({v1::PHASE_TRAIN, 0, 64, 70, {}});
  now += absl::Microseconds(30);
  EpochRecord record;
  record.steps = 70;
  bar.EndEpoch(record);
  EXPECT_THAT(out.str(), HasSubstr("\x1b[1m0s\x1b[0m 100us/step\n"));
}

TEST(ProgressBarTest, IgnoresWhatIsNotItsEpoch) {
  std::ostringstream out;
  ProgressBar bar(&out, /*is_terminal=*/true, MakeJob(1));
  bar.BeginEpoch(3);
  bar.Update({v1::PHASE_VALIDATION, 3, 1, 5, {}});
  bar.Update({v1::PHASE_TRAIN, 4, 1, 5, {}});
  bar.Update({v1::PHASE_TRAIN, 3, 0, 5, {}});
  bar.Update({v1::PHASE_TEST, 3, 1, 5, {}});
  bar.BeginTest();
  bar.Update({v1::PHASE_TRAIN, 3, 1, 5, {}});
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace paceline
