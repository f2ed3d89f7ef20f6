// The way of a job that goes well.
#include "common/session/machine/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/limits.h"
#include "common/session/machine/validation_schedule.h"
#include "tests/unit/session/session_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST_F(SessionTest, InitializesShardsOnceAllPsAreThere) {
  Create();
  ASSERT_TRUE(Register(kWorker0).ok());
  EXPECT_FALSE(Take<InitializeShards>());
  ASSERT_TRUE(Register(kPs0).ok());
  ASSERT_TRUE(Register(kPs0).ok());
  EXPECT_TRUE(Take<InitializeShards>());
  ASSERT_TRUE(Register(kWorker1).ok());
  EXPECT_FALSE(Take<InitializeShards>());
}

TEST_F(SessionTest, WaitsForTheAddressOfAPs) {
  options_.tasks[0].address = "";
  Create();
  ASSERT_TRUE(Register(kPs0).ok());
  EXPECT_FALSE(Take<InitializeShards>());
  v1::RegisterRequest request;
  *request.mutable_member() = MemberOf(kPs0);
  request.mutable_member()->set_address("10.0.0.9:2222");
  request.set_version("1.0");
  ASSERT_TRUE(session_->Register(request, now_).ok());
  EXPECT_TRUE(Take<InitializeShards>());
}

TEST_F(SessionTest, TellsMembersTheirRank) {
  Create();
  const auto first = Register(kWorker0);
  const auto second = Register(kWorker1);
  EXPECT_EQ(first->rank(), 0);
  EXPECT_EQ(second->rank(), 1);
  EXPECT_EQ(second->world_size(), 2);
  EXPECT_EQ(second->heartbeat_timeout().seconds(), 8);
  EXPECT_EQ(second->heartbeat_interval().nanos(), 250'000'000);
}

TEST_F(SessionTest, StartsWhenAllAreReady) {
  Create();
  for (const TaskId task : {kPs0, kWorker0, kWorker1}) {
    ASSERT_TRUE(Register(task).ok());
  }
  ASSERT_TRUE(AwaitStart(kWorker0).ok());
  ShardsReady(0);
  EXPECT_FALSE(AwaitStart(kPs0)->has_value());
  EXPECT_FALSE(Acquire(kWorker0));
  const auto started = AwaitStart(kWorker1);
  ASSERT_TRUE(started->has_value());
  ASSERT_EQ((*started)->ps_size(), 1);
  EXPECT_EQ((*started)->ps(0).address(), "host-p:1");
  EXPECT_EQ((*started)->ps(0).incarnation(), incarnations_[kPs0]);
  const auto began = Take<EpochBegan>();
  ASSERT_TRUE(began);
  EXPECT_EQ(began->epoch, 0);
}

TEST_F(SessionTest, StartsWhenTheShardsHaveLetAllWorkersIn) {
  Create();
  for (const TaskId task : {kPs0, kWorker0, kWorker1}) {
    ASSERT_TRUE(Register(task).ok());
    ASSERT_TRUE(AwaitStart(task).ok());
  }
  EXPECT_FALSE(Take<AdmitWorkers>()) << "the shards are not there";
  session_->ShardsInitialized(absl::OkStatus(), 0, now_);
  const auto admit = Take<AdmitWorkers>();
  ASSERT_TRUE(admit);
  ASSERT_EQ(admit->workers.size(), 2u);
  EXPECT_EQ(admit->workers[1].rank(), 1);
  EXPECT_EQ(admit->workers[1].incarnation(), incarnations_[kWorker1]);
  for (const TaskId task : {kPs0, kWorker0, kWorker1}) {
    EXPECT_FALSE(AwaitStart(task)->has_value());
  }
  session_->Admitted({admit->workers[0]}, absl::OkStatus(), now_);
  EXPECT_FALSE(Take<EpochBegan>());
  session_->Admitted({admit->workers[1]}, absl::OkStatus(), now_);
  EXPECT_TRUE(Take<EpochBegan>());
  for (const TaskId task : {kPs0, kWorker0, kWorker1}) {
    EXPECT_TRUE(AwaitStart(task)->has_value());
  }
}

TEST_F(SessionTest, ThatOnlyConnectsEndsOnceAllWorkersAskForWork) {
  options_.connects_only = true;
  Start();
  EXPECT_TRUE(Register(kWorker0)->connects_only());
  EXPECT_FALSE(Take<EpochBegan>());
  EXPECT_FALSE(Acquire(kWorker0));
  EXPECT_FALSE(session_->ended());
  EXPECT_FALSE(Acquire(kWorker1));
  const std::optional<Ended> ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->status.ok()) << ended->status;
}

TEST_F(SessionTest, ThatOnlyConnectsEndsWithTheLossOfAWorker) {
  options_.connects_only = true;
  Start();
  EXPECT_FALSE(Acquire(kWorker0));
  session_->TaskExited(kWorker1, 1, now_);
  const std::optional<Ended> ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->task, kWorker1);
}

TEST_F(SessionTest, TrainsToTheEnd) {
  options_.job.set_epochs(2);
  validation_examples_ = 105;
  test_examples_ = 50;
  Start();
  Take<EpochBegan>();
  // Examples of each phase of each epoch.
  std::map<std::pair<v1::Phase, int>, int64_t> examples;
  while (const auto lease = Acquire(kWorker0)) {
    examples[{lease->phase(), lease->epoch()}] += lease->end() - lease->begin();
    EXPECT_EQ(session_->Progress().phase, lease->phase());
    now_ += absl::Seconds(1);
    Finish(kWorker0, *lease);
  }
  EXPECT_THAT(examples, ElementsAre(Pair(Pair(v1::PHASE_TRAIN, 0), 1000),
                                    Pair(Pair(v1::PHASE_TRAIN, 1), 1000),
                                    Pair(Pair(v1::PHASE_VALIDATION, 0), 105),
                                    Pair(Pair(v1::PHASE_VALIDATION, 1), 105),
                                    Pair(Pair(v1::PHASE_TEST, 2), 50)));
  ASSERT_EQ(session_->history().size(), 2);
  const EpochRecord& record = session_->history()[1];
  EXPECT_EQ(record.epoch, 1);
  EXPECT_EQ(record.steps, 100);
  EXPECT_EQ(record.examples, 1000);
  EXPECT_GT(record.seconds, 0);
  EXPECT_EQ(record.learning_rate, 1.0 / 201);
  EXPECT_THAT(record.logs, ElementsAre(Pair("loss", 2), Pair("accuracy", 0.5)));
  EXPECT_THAT(record.validation_logs,
              ElementsAre(Pair("val_loss", 2), Pair("val_accuracy", 0.5)));

  std::vector<Action> actions = session_->TakeActions();
  const auto began = [](const Action& action) {
    return std::holds_alternative<TestBegan>(action);
  };
  const auto ended = [](const Action& action) {
    return std::holds_alternative<TestEnded>(action);
  };
  EXPECT_EQ(std::count_if(actions.begin(), actions.end(), began), 1);
  EXPECT_EQ(std::count_if(actions.begin(), actions.end(), ended), 1);
  ASSERT_TRUE(session_->ended());
  EXPECT_EQ(TryAcquire(kWorker1, 1).value()->verdict(),
            v1::AcquireLeaseResponse::VERDICT_DONE);
  EXPECT_TRUE(Beat(kPs0)->stop());
  EXPECT_FALSE(session_->AllGone(now_));
  for (const TaskId task : {kPs0, kWorker0, kWorker1}) {
    EXPECT_TRUE(Leave(task, absl::OkStatus()).ok());
  }
  EXPECT_TRUE(session_->AllGone(now_));
}

// The epochs of a finished job whose record has values of a validation.
std::vector<int> ValidatedEpochs(const Session& session) {
  std::vector<int> epochs;
  for (const EpochRecord& record : session.history()) {
    if (!record.validation_logs.empty()) epochs.push_back(record.epoch);
  }
  return epochs;
}

TEST_F(SessionTest, BeginsWithTheInitialEpoch) {
  options_.job.set_epochs(4);
  options_.job.set_initial_epoch(2);
  Start();
  const auto began = Take<EpochBegan>();
  ASSERT_TRUE(began);
  EXPECT_EQ(began->epoch, 2);
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->epoch(), 2);
  Finish(kWorker0, *lease);
  WorkUntilIdle(kWorker0);
  EXPECT_TRUE(session_->ended());
  ASSERT_EQ(session_->history().size(), 2u);
  EXPECT_EQ(session_->history()[0].epoch, 2);
  EXPECT_EQ(session_->history()[1].epoch, 3);
  EXPECT_EQ(session_->history()[1].learning_rate, 1.0 / 201)
      << "steps count from 0";
  EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
}

TEST_F(SessionTest, ValidatesEverySoManyEpochs) {
  options_.job.set_epochs(5);
  options_.job.set_validation_freq(2);
  validation_examples_ = 50;
  Start();
  EXPECT_EQ(WorkUntilIdle(kWorker0), 5 * 1000 + 2 * 50);
  EXPECT_THAT(ValidatedEpochs(*session_), ElementsAre(1, 3));
}

TEST_F(SessionTest, ValidatesAfterTheEpochsOfAList) {
  options_.job.set_epochs(4);
  options_.job.set_initial_epoch(1);
  for (const int epoch : {1, 4, 3}) options_.job.add_validation_epochs(epoch);
  validation_examples_ = 50;
  Start();
  EXPECT_EQ(WorkUntilIdle(kWorker0), 3 * 1000 + 2 * 50);
  EXPECT_THAT(ValidatedEpochs(*session_), ElementsAre(2, 3));
}

TEST_F(SessionTest, ValidatesOnTheFirstSteps) {
  options_.job.set_validation_steps(3);
  validation_examples_ = 105;
  Start();
  int64_t examples = 0;
  while (const auto lease = Acquire(kWorker1)) {
    if (lease->phase() == v1::PHASE_VALIDATION) {
      EXPECT_LE(lease->end(), 30u);
      examples += lease->end() - lease->begin();
    }
    Finish(kWorker1, *lease);
  }
  EXPECT_EQ(examples, 30);
}

TEST(ValidationScheduleTest, TakesNoMoreExamplesThanThereAre) {
  v1::Job job;
  EXPECT_EQ(ValidationSchedule(job, 60).Examples(1000), 1000);
  job.set_validation_steps(2);
  EXPECT_EQ(ValidationSchedule(job, 60).Examples(1000), 120);
  EXPECT_EQ(ValidationSchedule(job, 60).Examples(119), 119);
  EXPECT_EQ(ValidationSchedule(job, 60).Examples(0), 0);
  job.set_validation_steps(~uint64_t{0});
  EXPECT_EQ(ValidationSchedule(job, 60).Examples(1000), 1000);
}

TEST_F(SessionTest, RepeatedRequestGetsTheSameLease) {
  Start();
  const auto first = TryAcquire(kWorker0, 1);
  const auto repeat = TryAcquire(kWorker0, 1);
  EXPECT_EQ(first.value()->lease().id(), repeat.value()->lease().id());
  const auto second = TryAcquire(kWorker0, 2);
  EXPECT_NE(second.value()->lease().id(), first.value()->lease().id());
  EXPECT_FALSE(TryAcquire(kWorker0, 1).value()) << "a late repeat";
  EXPECT_EQ(TryAcquire(kWorker0, 4).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(SessionTest, ProgressCountsOpenLeases) {
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(Beat(kWorker0, {ReportOf(*lease, 30)}).ok());
  const ProgressView view = session_->Progress();
  EXPECT_EQ(view.steps_done, 3);
  EXPECT_EQ(view.steps_total, 100);
  EXPECT_THAT(view.logs, ElementsAre(Pair("loss", 2), Pair("accuracy", 0.5)));
}

class StepRowsTest : public SessionTest {
 protected:
  // Of worker 0, with rows of these steps.
  absl::Status Beat(const std::vector<uint64_t>& steps, double weight = 1) {
    v1::HeartbeatRequest request;
    *request.mutable_member() = MemberOf(kWorker0);
    for (const uint64_t step : steps) {
      v1::StepReport* row = request.add_steps();
      row->set_step(step);
      row->set_total(0.25);
      row->set_weight(weight);
    }
    return session_->Heartbeat(request, now_).status();
  }
};

TEST_F(StepRowsTest, ThoseOfRepeatedHeartbeatsComeOnce) {
  options_.job.set_log_steps(true);
  Start();
  ASSERT_TRUE(Acquire(kWorker0));
  ASSERT_TRUE(Beat({3, 5}).ok());
  ASSERT_TRUE(Beat({3, 5}).ok());
  EXPECT_EQ(session_->TakeStepRows().size(), 2);
  EXPECT_THAT(session_->TakeStepRows(), IsEmpty());
}

TEST_F(StepRowsTest, AreDroppedUnlessTheJobAsksForThem) {
  Start();
  ASSERT_TRUE(Acquire(kWorker0));
  ASSERT_TRUE(Beat({3, 5}).ok());
  EXPECT_THAT(session_->TakeStepRows(), IsEmpty());
}

TEST_F(StepRowsTest, AreBounded) {
  options_.job.set_log_steps(true);
  Start();
  ASSERT_TRUE(Acquire(kWorker0));
  ASSERT_TRUE(Beat({1, 100}).ok());
  EXPECT_EQ(session_->TakeStepRows().size(), 1) << "nobody has leased step 100";
  ASSERT_TRUE(Beat({2}, /*weight=*/0).ok());
  EXPECT_THAT(session_->TakeStepRows(), IsEmpty()) << "it had no example";
  const std::vector<uint64_t> many(limits::kMaxStepReports + 1, 1);
  for (const absl::Status& status :
       {Beat({0}), Beat({uint64_t{1} << 63}), Beat({2}, -1), Beat(many)}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("expected"));
  }
}

TEST_F(SessionTest, StepsPerEpochRepeatTheData) {
  options_.job.set_steps_per_epoch(7);
  train_examples_ = 25;
  Start();
  EXPECT_EQ(WorkUntilIdle(kWorker0), 70);
  EXPECT_EQ(session_->history().at(0).steps, 7);
}

TEST_F(SessionTest, GlobalBatchIsSharedByTheWorkers) {
  options_.job.set_global_batch_size(15);
  options_.job.set_steps_per_epoch(3);
  Start();
  EXPECT_EQ(WorkUntilIdle(kWorker0), 24) << "3 batches of ceil(15 / 2)";
}

TEST_F(SessionTest, EvaluatesACheckpointWithoutPs) {
  options_.tasks = {{kWorker0, ""}};
  options_.evaluate_checkpoint = "/checkpoint/12";
  options_.learning_rate = nullptr;
  test_examples_ = 35;
  Create();
  EXPECT_EQ(Register(kWorker0)->evaluate_checkpoint(), "/checkpoint/12");
  ASSERT_TRUE(AwaitStart(kWorker0)->has_value());
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->phase(), v1::PHASE_TEST);
  Finish(kWorker0, *lease);
  WorkUntilIdle(kWorker0);
  const auto test = Take<TestEnded>();
  ASSERT_TRUE(test);
  EXPECT_EQ(test->steps, 4);
  EXPECT_THAT(test->logs, ElementsAre(Pair("loss", 2), Pair("accuracy", 0.5)));
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionTest, RefusesContradictoryOptions) {
  options_.tasks = {{kWorker0, ""}};
  auto session = Session::Create(options_, now_);
  EXPECT_EQ(session.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(session.status().message()), HasSubstr("needs a ps"));
  options_.tasks = {{kPs0, ""}, {kPs0, ""}};
  session = Session::Create(options_, now_);
  EXPECT_THAT(std::string(session.status().message()),
              HasSubstr("ps-0 is in the cluster twice"));
}

TEST_F(SessionTest, StopEndsEvenIfNobodyAnswers) {
  Start();
  Acquire(kWorker0);
  session_->TakeActions();
  session_->Stop(absl::CancelledError("stopped by the user"), now_);
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(TryAcquire(kWorker0, 2).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(AwaitStart(kWorker0).status().code(), absl::StatusCode::kCancelled);
  EXPECT_FALSE(session_->AllGone(now_ + absl::Seconds(4)));
  EXPECT_TRUE(session_->AllGone(now_ + absl::Seconds(5)));
  session_->Stop(absl::CancelledError("again"), now_);
  EXPECT_FALSE(Take<Ended>());
}

}  // namespace
}  // namespace paceline
