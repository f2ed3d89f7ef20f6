#include "coordinator/cli/service/job_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "common/progress/progress_message.h"
#include "tests/screen_lines.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

v1::EpochProgress Steps(int done, double loss) {
  v1::EpochProgress epoch;
  epoch.set_steps_done(done);
  epoch.set_steps_total(4);
  v1::LoggedValue& logged = *epoch.add_logs();
  logged.set_name("loss");
  logged.set_value(loss);
  return epoch;
}

// "2/4 [===>...]" of Keras 2 is shorter to write than Keras 3's bar.
v1::JobProgress Progress() {
  v1::JobProgress progress;
  progress.set_style(v1::PROGRESS_STYLE_KERAS2);
  return progress;
}

constexpr char kHalf[] =
    "2/4 [==============>...............] - ETA: 0s - loss: 2.0000";
constexpr char kEnd[] =
    "4/4 [==============================] - 0s 0s/step - loss: -1.5000";

class JobScreenTest : public testing::Test {
 protected:
  std::vector<std::string> Lines() const { return ScreenLines(out_.str()); }

  std::ostringstream out_;
};

TEST_F(JobScreenTest, DrawsTheBarBelowTheLog) {
  {
    JobScreen screen(out_);
    screen.Show("Epoch 1/2\n");
    v1::JobProgress progress = Progress();
    *progress.mutable_current() = Steps(2, 2);
    screen.SetProgress(progress);
    screen.Show("");
    EXPECT_THAT(Lines(), ElementsAre("Epoch 1/2", kHalf));
    screen.Show("a warn");
    screen.Show("ing\n");
    screen.WriteAbove([this] { out_ << "trying again\n"; });
    EXPECT_THAT(Lines(),
                ElementsAre("Epoch 1/2", "a warning", "trying again", kHalf));
    // The end of the job comes from the log's last line.
    progress.clear_current();
    *progress.add_ended() = Steps(4, -1.5);
    screen.SetProgress(progress);
    screen.Show("4/4 - 0s - loss: -1.5000e+00 - 0s/epoch - 0s/step\nEpoch 2/2");
    EXPECT_THAT(Lines(),
                ElementsAre("Epoch 1/2", "a warning", "trying again", kEnd));
  }
  EXPECT_THAT(Lines(), ElementsAre("Epoch 1/2", "a warning", "trying again",
                                   kEnd, "Epoch 2/2"));
}

// As Keras shows what ReduceLROnPlateau says.
TEST_F(JobScreenTest, AMessageAfterAnEmptyLineLeavesTheBar) {
  JobScreen screen(out_);
  v1::JobProgress progress = Progress();
  *progress.mutable_current() = Steps(2, 2);
  screen.SetProgress(progress);
  screen.Show("");
  progress.clear_current();
  *progress.add_ended() = Steps(4, -1.5);
  screen.SetProgress(progress);
  screen.Show(
      "\nEpoch 1: early stopping\n"
      "4/4 - 0s - loss: -1.5000e+00 - 0s/epoch - 0s/step\n");
  EXPECT_THAT(Lines(), ElementsAre(kHalf, "Epoch 1: early stopping", kEnd));
}

// As a program of the user's may print.
TEST_F(JobScreenTest, AnEmptyLineWithinAnEpochStandsAboveTheBar) {
  JobScreen screen(out_);
  v1::JobProgress progress = Progress();
  *progress.add_ended() = Steps(4, -1.5);
  *progress.mutable_current() = Steps(1, 3);
  screen.SetProgress(progress);
  screen.Show("");
  *progress.mutable_current() = Steps(2, 2);
  screen.SetProgress(progress);
  screen.Show("\nfound\n\n");
  EXPECT_THAT(Lines(), ElementsAre("", "found", "", kHalf));
}

TEST_F(JobScreenTest, AnEpochOfWhichNothingIsKnownIsALine) {
  JobScreen screen(out_);
  screen.SetProgress(Progress());
  screen.Show("4/4 - 0s - loss: 3.0000 - 0s/epoch - 0s/step\n");
  EXPECT_THAT(Lines(),
              ElementsAre("4/4 - 0s - loss: 3.0000 - 0s/epoch - 0s/step"));
}

TEST_F(JobScreenTest, TheNextStartHasABarOfItsOwn) {
  {
    JobScreen screen(out_);
    v1::JobProgress progress = Progress();
    *progress.mutable_current() = Steps(2, 2);
    screen.SetProgress(progress);
    screen.Show("");
    screen.ForgetProgress();
    screen.Show("Epoch 1/2\n");
  }
  EXPECT_THAT(Lines(), ElementsAre(kHalf, "Epoch 1/2"));
}

TEST_F(JobScreenTest, NothingHostileReachesTheTerminal) {
  {
    JobScreen screen(out_);
    v1::JobProgress progress = Progress();
    *progress.mutable_current() = Steps(2, 2);
    progress.mutable_current()->mutable_logs(0)->set_name("\x1b[2J");
    screen.SetProgress(progress);
    progress.mutable_current()->mutable_logs(0)->set_name("loss");
    progress.mutable_current()->set_seconds_per_step(-1e300);
    screen.SetProgress(progress);
    screen.Show("\x1b]0;title\x07\rover\xff\n");
    // A line without an end.
    screen.Show(std::string(200'000, 'x'));
  }
  EXPECT_THAT(out_.str(), Not(HasSubstr("\x1b")));
  EXPECT_THAT(out_.str(), Not(HasSubstr("\r")));
  EXPECT_THAT(out_.str(), HasSubstr("\\x1b]0;title\\x07\\x0dover\\xff\n"));
}

}  // namespace
}  // namespace paceline
