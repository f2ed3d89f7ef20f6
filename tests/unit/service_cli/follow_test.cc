// How a job is followed, waited for and looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tests/screen_lines.h"
#include "tests/unit/service_cli/service_verbs_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using FollowVerbsTest = ServiceVerbsTest;

TEST_F(FollowVerbsTest, FollowPrintsTheLogsOfAllStarts) {
  jobs_.states = {{v1::JOB_STATE_RUNNING, 1},
                  {v1::JOB_STATE_QUEUED, 1},
                  {v1::JOB_STATE_RUNNING, 2},
                  {v1::JOB_STATE_SUCCEEDED, 2}};
  jobs_.logs = {{1, "first start\n"}, {2, "second start\n"}};
  EXPECT_EQ(Run(MakeSubmitVerb(), {WriteJob(), "--follow"}), 0) << error_;
  EXPECT_EQ(out_.str(), "mnist-17\nfirst start\nsecond start\n");
  // The job has ended before the first log was read.
  EXPECT_EQ(Run(MakeSubmitVerb(), {WriteJob(), "--follow"}), 0) << error_;
  EXPECT_EQ(out_.str(), "mnist-17\nfirst start\nsecond start\n");
}

TEST_F(FollowVerbsTest, FollowDrawsBarsOnATerminal) {
  jobs_.logs = {{1, "Epoch 1/1\n4/4 - 0s - 0s/step - loss: -2.0000e+00\n"}};
  v1::EpochProgress& epoch = *jobs_.progress.add_ended();
  epoch.set_steps_done(4);
  epoch.set_steps_total(4);
  v1::LoggedValue& loss = *epoch.add_logs();
  loss.set_name("loss");
  loss.set_value(-2);
  for (const bool is_terminal : {false, true}) {
    is_terminal_ = is_terminal;
    jobs_.job.mutable_record()->set_state(v1::JOB_STATE_RUNNING);
    jobs_.job.mutable_record()->set_generation(1);
    jobs_.states = {{v1::JOB_STATE_SUCCEEDED, 1}};
    jobs_.next = 0;
    jobs_.lost_answers = 1;
    EXPECT_EQ(Run(MakeLogsVerb(), {"mnist-17", "-f"}), 0) << error_;
    EXPECT_THAT(messages_.str(), HasSubstr("trying again until it answers"));
    EXPECT_THAT(
        ScreenLines(out_.str()),
        ElementsAre("Epoch 1/1", is_terminal ? "4/4 ━━━━━━━━━━━━━━━━━━━━ 0s "
                                               "0s/step - loss: -2.0000"
                                             : "4/4 - 0s - 0s/step - loss: "
                                               "-2.0000e+00"));
  }
}

TEST_F(FollowVerbsTest, WaitReturnsHowTheJobEnded) {
  for (const auto& [state, code] :
       {std::pair<v1::JobState, int>(v1::JOB_STATE_SUCCEEDED, 0),
        {v1::JOB_STATE_FAILED, 1},
        {v1::JOB_STATE_STOPPED, 130}}) {
    jobs_.job.mutable_record()->set_state(v1::JOB_STATE_QUEUED);
    jobs_.states = {{v1::JOB_STATE_RUNNING, 1}, {state, 1}};
    jobs_.next = 0;
    jobs_.job.mutable_record()->set_error("why");
    EXPECT_EQ(Run(MakeWaitVerb(), {"mnist-17"}), code) << error_;
    EXPECT_THAT(messages_.str(), HasSubstr("job mnist-17 is running\n"));
    EXPECT_THAT(messages_.str(),
                HasSubstr(code == 0 ? "coordinator download mnist-17\n"
                                    : "error: job mnist-17"));
  }
  jobs_.job.mutable_record()->set_state(v1::JOB_STATE_FAILED);
  EXPECT_EQ(Run(MakeWaitVerb(), {"mnist-17"}), 1);
  EXPECT_EQ(messages_.str(), "error: job mnist-17 failed: why\n");
}

TEST_F(FollowVerbsTest, AWaitMayEndEarly) {
  Run(MakeWaitVerb(), {"mnist-17", "--timeout", "1s"});
  EXPECT_EQ(error_.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(error_.message(), "job mnist-17 is still queued after 1s");
  is_interrupted_ = true;
  client_->CancelAll();
  EXPECT_EQ(Run(MakeWaitVerb(), {"mnist-17"}), 130);
  EXPECT_EQ(messages_.str(),
            "job mnist-17 goes on; come back with: coordinator logs -f "
            "mnist-17\n");
}

// For longer than other verbs have patience.
TEST_F(FollowVerbsTest, AWaitOutlivesACoordinator) {
  for (const char* verb : {"wait", "logs"}) {
    jobs_.job.mutable_record()->set_state(v1::JOB_STATE_RUNNING);
    jobs_.job.mutable_record()->set_generation(1);
    jobs_.states = {{v1::JOB_STATE_SUCCEEDED, 1}};
    jobs_.next = 0;
    jobs_.lost_answers = 2;
    patience_ = absl::ZeroDuration();
    EXPECT_EQ(verb == std::string("wait")
                  ? Run(MakeWaitVerb(), {"mnist-17"})
                  : Run(MakeLogsVerb(), {"mnist-17", "-f"}),
              0)
        << error_;
    EXPECT_EQ(jobs_.lost_answers, 0);
    EXPECT_THAT(messages_.str(), HasSubstr("; trying again until it answers"));
  }
}

TEST_F(FollowVerbsTest, LogsPrintsTheEnd) {
  jobs_.job.mutable_record()->set_state(v1::JOB_STATE_SUCCEEDED);
  jobs_.job.mutable_record()->set_generation(2);
  jobs_.logs = {{1, "old\n"}, {2, "one\ntwo\n\nfour\n"}};
  EXPECT_EQ(Run(MakeLogsVerb(), {"mnist-17"}), 0) << error_;
  EXPECT_EQ(out_.str(), "one\ntwo\n\nfour\n");
  for (const auto& [lines, text] :
       {std::pair<std::string, std::string>("2", "\nfour\n"),
        {"1", "four\n"},
        {"0", ""},
        {"4", "one\ntwo\n\nfour\n"},
        {"9", "one\ntwo\n\nfour\n"}}) {
    EXPECT_EQ(Run(MakeLogsVerb(), {"mnist-17", "--tail", lines}), 0) << error_;
    EXPECT_EQ(out_.str(), text) << lines;
  }
  EXPECT_EQ(Run(MakeLogsVerb(), {"mnist-17", "--generation", "1"}), 0);
  EXPECT_EQ(out_.str(), "old\n");
  EXPECT_EQ(Run(MakeLogsVerb(), {"mnist-17", "--tail", "1", "-f"}), 0);
  EXPECT_EQ(out_.str(), "four\n");
  Run(MakeLogsVerb(), {"mnist-17", "--generation", "3"});
  EXPECT_EQ(error_.code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(FollowVerbsTest, AJobThatIsNotThereIsNamed) {
  Run(MakeDescribeVerb(), {"mnist-18"});
  EXPECT_EQ(error_.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(error_.message(), client_->description() + " has no job mnist-18");
}

}  // namespace
}  // namespace paceline
