#include "common/progress/progress_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace paceline {
namespace {

using ::testing::HasSubstr;

EpochProgress SomeProgress() {
  EpochProgress progress;
  progress.steps_done = 3;
  progress.steps_total = 10;
  progress.seconds = 1.5;
  progress.seconds_per_step = 0.25;
  progress.logs = {{"loss", 2},
                   {"größe", std::numeric_limits<double>::infinity()}};
  progress.validation_logs = {{"val_loss", 3}};
  return progress;
}

v1::JobProgress GoodMessage() {
  v1::JobProgress message;
  *message.add_ended() = ToProto(SomeProgress());
  *message.mutable_current() = ToProto(SomeProgress());
  return message;
}

TEST(ProgressMessageTest, ComesBackAsItWas) {
  const EpochProgress original = SomeProgress();
  const EpochProgress read = FromProto(ToProto(original), /*is_end=*/true);
  EXPECT_EQ(read.steps_done, 3);
  EXPECT_EQ(read.steps_total, 10);
  EXPECT_EQ(read.seconds, 1.5);
  EXPECT_EQ(read.seconds_per_step, 0.25);
  EXPECT_EQ(read.logs, original.logs);
  EXPECT_EQ(read.validation_logs, original.validation_logs);
  EXPECT_TRUE(read.is_end);
  EXPECT_TRUE(CheckJobProgress(GoodMessage()).ok());
  EXPECT_TRUE(CheckJobProgress(v1::JobProgress()).ok());
}

TEST(ProgressMessageTest, AnUnknownTotalIsGoodWhileTheEpochGoesOn) {
  v1::JobProgress message;
  message.mutable_current()->set_steps_done(7);
  EXPECT_TRUE(CheckJobProgress(message).ok());
  *message.add_ended() = message.current();
  EXPECT_TRUE(absl::IsInvalidArgument(CheckJobProgress(message)));
}

TEST(ProgressMessageTest, RefusesWhatNoLeaderWrites) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  using Change = std::function<void(v1::JobProgress&)>;
  const std::vector<std::pair<std::string, Change>> changes = {
      {"style", [](auto& m) { m.set_style(v1::ProgressStyle(9)); }},
      {"ended",
       [](auto& m) {
         for (int i = 0; i < kMaxEndedEpochs; ++i) *m.add_ended() = m.ended(0);
       }},
      {"steps_done", [](auto& m) { m.mutable_current()->set_steps_done(11); }},
      {"steps_done", [](auto& m) { m.mutable_ended(0)->set_steps_done(11); }},
      {"steps_total",
       [](auto& m) { m.mutable_current()->set_steps_total(UINT64_MAX); }},
      {"seconds", [](auto& m) { m.mutable_current()->set_seconds(-1); }},
      {"seconds", [&](auto& m) { m.mutable_current()->set_seconds(nan); }},
      {"seconds_per_step",
       [](auto& m) { m.mutable_ended(0)->set_seconds_per_step(1e300); }},
      {"seconds_per_step",
       [](auto& m) {
         m.mutable_current()->set_steps_total(1'000'000'000'000);
         m.mutable_current()->set_seconds_per_step(1e6);
       }},
      {"logs.name",
       [](auto& m) {
         m.mutable_current()->mutable_logs(0)->set_name("\x1b[2J");
       }},
      {"logs.name",
       [](auto& m) { m.mutable_current()->mutable_logs(0)->set_name("a\n"); }},
      {"validation_logs.name",
       [](auto& m) {
         m.mutable_ended(0)->mutable_validation_logs(0)->set_name(
             std::string(1000, 'a'));
       }},
      {"logs",
       [](auto& m) {
         for (int i = 0; i < kMaxLoggedValues; ++i) {
           m.mutable_current()->add_logs();
         }
       }},
      {"size",
       [](auto& m) {
         m.mutable_current()->mutable_logs(0)->set_name(
             std::string(kMaxProgressBytes, 'a'));
       }},
  };
  for (const auto& [field, change] : changes) {
    v1::JobProgress message = GoodMessage();
    change(message);
    const absl::Status status = CheckJobProgress(message);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << field;
    EXPECT_THAT(status.message(), HasSubstr("progress: " + field + ": "));
  }
}

}  // namespace
}  // namespace paceline
