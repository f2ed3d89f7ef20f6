// What the leader tells of examples that `on_error: skip` left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/unit/session/session_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;

class SessionSkippedTest : public SessionTest {
 protected:
  // Reports `examples` of the lease, of which `skipped` were left out.
  void Report(TaskId worker, const v1::Lease& lease, int64_t examples,
              int64_t skipped) {
    v1::LeaseReport report = ReportOf(lease, examples);
    report.set_skipped_examples(static_cast<uint64_t>(skipped));
    const auto answer = Beat(worker, {report});
    ASSERT_TRUE(answer.ok()) << answer.status();
  }

  // Finishes the next lease.
  void FinishNext(TaskId worker, int64_t skipped) {
    const auto lease = Acquire(worker);
    ASSERT_TRUE(lease);
    Report(worker, *lease, static_cast<int64_t>(lease->end() - lease->begin()),
           skipped);
  }

  // The notices since the last call, and "end" where an epoch has ended.
  std::vector<std::string> TakeNotices() {
    std::vector<std::string> notices;
    for (const Action& action : session_->TakeActions()) {
      if (std::holds_alternative<EpochEnded>(action)) notices.push_back("end");
      if (const Notice* notice = std::get_if<Notice>(&action)) {
        notices.push_back(notice->message);
      }
    }
    return notices;
  }
};

TEST_F(SessionSkippedTest, TellsAfterEachEpochAndEvaluation) {
  options_.job.set_epochs(2);
  train_examples_ = 10;
  validation_examples_ = 10;
  test_examples_ = 10;
  Start();
  for (const int64_t skipped : {3, 0, 0, 1}) FinishNext(kWorker0, skipped);
  EXPECT_THAT(
      TakeNotices(),
      ElementsAre("end", "epoch 1: 3 of 10 examples left out (on_error: skip)",
                  "end",
                  "epoch 2, validation: 1 of 10 examples left out "
                  "(on_error: skip)"));
  FinishNext(kWorker0, 10);
  EXPECT_THAT(
      TakeNotices(),
      ElementsAre("data.test: 10 of 10 examples left out (on_error: skip)"));
  ASSERT_EQ(session_->history().size(), 2u);
  EXPECT_EQ(session_->history()[0].skipped_examples, 3);
  EXPECT_EQ(session_->history()[0].skipped_validation_examples, 0);
  EXPECT_EQ(session_->history()[1].skipped_examples, 0);
  EXPECT_EQ(session_->history()[1].skipped_validation_examples, 1);
}

TEST_F(SessionSkippedTest, ThoseOfALostWorkerCountAsFarAsShardsKnow) {
  Start();
  const auto lost = Acquire(kWorker0);
  ASSERT_TRUE(lost);
  Report(kWorker0, *lost, 10, 1);
  Pass(absl::Seconds(9), {kWorker0});
  const auto fence = Take<FenceWorker>();
  ASSERT_TRUE(fence);
  // Its third step was pushed early, so there are no sums yet.
  v1::LeaseReport known = ReportOf(*lost, 30);
  known.clear_sums();
  known.set_skipped_examples(5);
  session_->Fenced(fence->worker, ShardKnows(known), now_);
  WorkUntilIdle(kWorker1);
  ASSERT_EQ(session_->history().size(), 1u);
  EXPECT_EQ(session_->history()[0].examples, 1000);
  EXPECT_EQ(session_->history()[0].skipped_examples, 5);
}

TEST_F(SessionSkippedTest, EvaluationsOfALostWorkerCountOnce) {
  train_examples_ = 10;
  validation_examples_ = 10;
  Start();
  FinishNext(kWorker1, 0);
  const auto lost = Acquire(kWorker0);
  ASSERT_TRUE(lost);
  ASSERT_EQ(lost->phase(), v1::PHASE_VALIDATION);
  Pass(absl::Seconds(9), {kWorker0});
  FinishNext(kWorker1, 2);
  EXPECT_EQ(session_->history().at(0).skipped_validation_examples, 2);
}

TEST_F(SessionSkippedTest, WorkersInStepReportTheirOwn) {
  options_.job.set_strategy(v1::STRATEGY_MULTI_WORKER_MIRRORED);
  options_.tasks = {{kWorker0, "host-a:1"}, {kWorker1, "host-b:1"}};
  train_examples_ = 40;
  Start();
  const auto first = Acquire(kWorker0);
  const auto second = Acquire(kWorker1);
  ASSERT_TRUE(first && second);
  ASSERT_EQ(first->id(), second->id());
  Report(kWorker0, *first, 20, 1);
  Report(kWorker1, *second, 20, 2);
  ASSERT_EQ(session_->history().size(), 1u);
  EXPECT_EQ(session_->history()[0].skipped_examples, 3);
}

TEST_F(SessionSkippedTest, AResumeGoesOnCounting) {
  options_.job.set_epochs(2);
  options_.job.mutable_checkpoint()->set_every_steps(130);
  Start();
  int64_t leases = 0;
  while (const auto lease = Acquire(kWorker0)) {
    Report(kWorker0, *lease,
           static_cast<int64_t>(lease->end() - lease->begin()), 1);
    ++leases;
  }
  const auto checkpoint = Take<TakeCheckpoint>();
  ASSERT_TRUE(checkpoint);
  const int64_t first = session_->history().at(0).skipped_examples;
  EXPECT_GT(first, 0);
  const int64_t begun = leases - first;
  EXPECT_GT(begun, 0);

  // Through text, as the manifest has it.
  options_.restore = std::make_shared<const nlohmann::json>(
      nlohmann::json::parse(checkpoint->state->dump()));
  options_.restore_path = "/out/checkpoint/130";
  for (const TaskId task : {kPs0, kWorker0, kWorker1}) Restart(task);
  Start();
  WorkUntilIdle(kWorker0);
  ASSERT_EQ(session_->history().size(), 2u);
  EXPECT_EQ(session_->history()[0].skipped_examples, first);
  EXPECT_EQ(session_->history()[1].skipped_examples, begun);
}

TEST_F(SessionSkippedTest, CheckpointsOfEarlierReleasesDoNotSay) {
  options_.job.set_epochs(2);
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Start();
  WorkUntilIdle(kWorker0);
  const auto checkpoint = Take<TakeCheckpoint>();
  ASSERT_TRUE(checkpoint);
  nlohmann::json state = *checkpoint->state;
  state["counted"].erase("skipped_examples");
  state["history"][0].erase("skipped_examples");
  state["history"][0].erase("skipped_validation_examples");
  options_.restore = std::make_shared<const nlohmann::json>(std::move(state));
  options_.restore_path = "/out/checkpoint/100";
  for (const TaskId task : {kPs0, kWorker0, kWorker1}) Restart(task);
  Start();
  EXPECT_EQ(session_->history().at(0).skipped_examples, 0);
}

}  // namespace
}  // namespace paceline
