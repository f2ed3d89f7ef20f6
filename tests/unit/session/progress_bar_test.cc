#include "common/session/leader/progress_bar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "common/base/file.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr absl::Time kStart = absl::UnixEpoch();

// Loss first, as sessions have them; those of the validation apart.
void ReadLogs(const json& values, Logs* logs, Logs* validation_logs) {
  for (const auto& [name, value] : values.items()) {
    const double number = value.is_null()
                              ? std::numeric_limits<double>::quiet_NaN()
                              : value.get<double>();
    Logs* target = name.rfind("val_", 0) == 0 ? validation_logs : logs;
    target->insert(target->begin(), {name, number});
  }
}

std::string Show(const json& epoch, bool is_terminal) {
  std::ostringstream out;
  absl::Time now = kStart;
  ProgressBar bar(&out, is_terminal, epoch["epochs"], [&] { return now; });
  bar.BeginEpoch(epoch["epoch"]);
  const int64_t total = epoch["total"];
  for (const json& update : epoch["updates"]) {
    now = kStart + absl::Seconds(update[0].get<double>());
    ProgressView view;
    view.phase = v1::PHASE_TRAIN;
    view.epoch = epoch["epoch"];
    view.steps_done = update[1];
    view.steps_total = total;
    ReadLogs(update[2], &view.logs, nullptr);
    bar.Update(view);
  }
  now = kStart + absl::Seconds(epoch["end"][0].get<double>());
  EpochRecord record;
  record.epoch = epoch["epoch"];
  record.steps = total;
  ReadLogs(epoch["end"][1], &record.logs, &record.validation_logs);
  bar.EndEpoch(record);
  return out.str();
}

TEST(ProgressBarTest, WritesTheBytesOfKeras) {
  const auto text = ReadFile(
      PACELINE_SOURCE_DIR "/tests/interop/progress_bar_expected.json", 1 << 20);
  ASSERT_TRUE(text.ok()) << text.status();
  const json expected = json::parse(*text);
  ASSERT_GE(expected["cases"].size(), 7);
  for (const json& epoch : expected["cases"]) {
    SCOPED_TRACE(epoch["name"].get<std::string>());
    EXPECT_EQ(Show(epoch, /*is_terminal=*/true),
              epoch["terminal"].get<std::string>());
    EXPECT_EQ(Show(epoch, /*is_terminal=*/false),
              epoch["pipe"].get<std::string>());
  }
}

TEST(ProgressBarTest, WritesTheLineOfTheFormatsPage) {
  std::ostringstream out;
  absl::Time now = kStart;
  ProgressBar bar(&out, /*is_terminal=*/true, 1, [&] { return now; });
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
  ProgressBar bar(&out, /*is_terminal=*/false, 1, [&] { return now; });
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
  ProgressBar bar(&out, /*is_terminal=*/true, 1, [&] { return now; });
  bar.BeginEpoch(0, /*steps_done=*/20);
  now += absl::Seconds(100);
  bar.Update({v1::PHASE_TRAIN, 0, 50, 100, {}});
  now += absl::Seconds(50);
  EpochRecord record;
  record.steps = 100;
  bar.EndEpoch(record);
  EXPECT_THAT(out.str(), HasSubstr("\x1b[1m150s\x1b[0m 1s/step\n"));
}

TEST(ProgressBarTest, IgnoresWhatIsNotItsEpoch) {
  std::ostringstream out;
  ProgressBar bar(&out, /*is_terminal=*/true, 1);
  bar.BeginEpoch(3);
  bar.Update({v1::PHASE_VALIDATION, 3, 1, 5, {}});
  bar.Update({v1::PHASE_TRAIN, 4, 1, 5, {}});
  bar.Update({v1::PHASE_TRAIN, 3, 0, 5, {}});
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace paceline
