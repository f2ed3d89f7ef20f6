// Jobs whose variables the workers hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/session/machine/session.h"
#include "tests/unit/session/session_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class WorkerVariablesTest : public SessionTest {
 protected:
  WorkerVariablesTest() {
    options_.tasks = {{kWorker0, "host-a:1"}, {kWorker1, "host-b:1"}};
    options_.job.set_strategy(v1::STRATEGY_MULTI_WORKER_MIRRORED);
    options_.job.mutable_checkpoint()->set_every_epochs(1);
  }

  void StartWorkers() {
    Create();
    for (const ExpectedTask& task : options_.tasks) {
      ASSERT_TRUE(Register(task.id).ok());
      ASSERT_TRUE(AwaitStart(task.id).ok());
    }
  }

  // Both workers do their halves of all leases.
  void TrainAnEpoch() {
    while (const auto lease = Acquire(kWorker0)) {
      ASSERT_EQ(Acquire(kWorker1)->id(), lease->id());
      const int64_t half =
          static_cast<int64_t>(lease->end() - lease->begin()) / 2;
      ASSERT_TRUE(Beat(kWorker0, {ReportOf(*lease, half)}).ok());
      ASSERT_TRUE(Beat(kWorker1, {ReportOf(*lease, half)}).ok());
    }
  }

  absl::Status ReportCheckpoint(TaskId task, const std::string& name,
                                const ShardFile* file) {
    v1::ReportCheckpointRequest request;
    *request.mutable_member() = MemberOf(task);
    request.set_name(name);
    if (file != nullptr) *request.mutable_file() = ToProto(*file);
    return session_->ReportCheckpoint(request);
  }

  void BeatAtWork(TaskId task, uint64_t activity,
                  const std::string& waiting_for) {
    v1::HeartbeatRequest request;
    *request.mutable_member() = MemberOf(task);
    request.set_activity(activity);
    request.set_waiting_for(waiting_for);
    ASSERT_TRUE(session_->Heartbeat(request, now_).ok());
  }

  std::string MessageOfTheEnd() {
    const auto ended = Take<Ended>();
    return ended ? std::string(ended->status.message()) : "not ended";
  }
};

TEST_F(WorkerVariablesTest, StartNamesThePeersAndTheCheckpoint) {
  options_.restore_path = "";
  StartWorkers();
  const auto start = AwaitStart(kWorker1);
  ASSERT_TRUE(start.ok() && start->has_value());
  ASSERT_EQ((*start)->workers_size(), 2);
  EXPECT_EQ((*start)->workers(0).address(), "host-a:1");
  EXPECT_EQ((*start)->workers(1).incarnation(), incarnations_[kWorker1]);
  EXPECT_EQ((*start)->ps_size(), 0);
}

TEST_F(WorkerVariablesTest, AddressGivenBeforeTheStartCounts) {
  options_.tasks = {{kWorker0, ""}, {kWorker1, ""}};
  Create();
  ASSERT_TRUE(Register(kWorker0).ok());
  ASSERT_TRUE(Register(kWorker1).ok());
  ASSERT_TRUE(AwaitStart(kWorker0).ok());
  v1::AwaitStartRequest request;
  *request.mutable_member() = MemberOf(kWorker1);
  request.mutable_member()->set_address("host-b:7");
  request.set_train_examples(train_examples_);
  const auto start = session_->AwaitStart(request, now_);
  ASSERT_TRUE(start.ok() && start->has_value());
  EXPECT_EQ((*start)->workers(1).address(), "host-b:7");
}

TEST_F(WorkerVariablesTest, StartTellsAllTheGpusAndTheGroupOfRankZero) {
  Create();
  ASSERT_TRUE(Register(kWorker0).ok());
  ASSERT_TRUE(Register(kWorker1).ok());
  const auto await = [&](TaskId task, const std::string& gpu,
                         const std::string& group) {
    v1::AwaitStartRequest request;
    *request.mutable_member() = MemberOf(task);
    request.set_train_examples(train_examples_);
    request.set_gpu_uuid(gpu);
    request.set_nccl_id(group);
    return session_->AwaitStart(request, now_);
  };
  ASSERT_TRUE(await(kWorker1, "GPU-b", "").ok());
  ASSERT_TRUE(await(kWorker0, "GPU-a", "group").ok());
  const auto start = await(kWorker1, "GPU-b", "");
  ASSERT_TRUE(start.ok() && start->has_value());
  EXPECT_THAT((*start)->gpu_uuids(), testing::ElementsAre("GPU-a", "GPU-b"));
  EXPECT_EQ((*start)->nccl_id(), "group");
}

TEST_F(WorkerVariablesTest, RankZeroIsAskedForTheCheckpoint) {
  StartWorkers();
  TrainAnEpoch();
  ASSERT_TRUE(Take<TakeCheckpoint>());
  EXPECT_FALSE(Acquire(kWorker0));
  EXPECT_EQ(session_->OrderSnapshot("step-000000000050"),
            (Blame{kWorker0, "host-a:1", "checkpoint step-000000000050"}));
  const auto order = TryAcquire(kWorker0, requests_[kWorker0] + 1);
  ASSERT_TRUE(order.ok() && order->has_value());
  EXPECT_EQ((*order)->verdict(), v1::AcquireLeaseResponse::VERDICT_SNAPSHOT);
  EXPECT_EQ((*order)->snapshot_name(), "step-000000000050");
  EXPECT_FALSE(TryAcquire(kWorker1, requests_[kWorker1] + 1)->has_value());

  EXPECT_EQ(ReportCheckpoint(kWorker1, "step-000000000050", nullptr).code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(ReportCheckpoint(kWorker0, "step-000000000050", nullptr).ok());
  const auto taken = Take<CheckpointReported>();
  ASSERT_TRUE(taken);
  EXPECT_FALSE(taken->file);
  const ShardFile file = {"shard", 10, 20, 50};
  ASSERT_TRUE(ReportCheckpoint(kWorker0, "step-000000000050", &file).ok());
  const auto written = Take<CheckpointReported>();
  ASSERT_TRUE(written && written->file);
  EXPECT_EQ(written->file->file, "shard");
  EXPECT_EQ(written->file->crc32, 20u);
}

TEST_F(WorkerVariablesTest, LossOfAWorkerEndsTheJob) {
  StartWorkers();
  ASSERT_TRUE(Acquire(kWorker0));
  session_->TakeActions();
  Pass(absl::Seconds(9), {kWorker1});
  EXPECT_TRUE(session_->ended());
  EXPECT_THAT(MessageOfTheEnd(), AllOf(HasSubstr("worker-1 at host-b:1"),
                                       HasSubstr("sent no heartbeat")));
}

TEST_F(WorkerVariablesTest, ErrorThatBlamesAPeerEndsTheJobByItsName) {
  StartWorkers();
  session_->TakeActions();
  const absl::Status error =
      absl::UnavailableError("worker-1 at host-b:1 closed the connection");
  ASSERT_TRUE(
      Leave(kWorker0, WithBlame(error, {kWorker1, "host-b:1",
                                        "the all-reduce of 2 replicas"}))
          .ok());
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->task, kWorker1);
  EXPECT_EQ(ended->status.message(),
            "worker-0 at host-a:1: worker-1 at host-b:1 closed the connection");
}

TEST_F(WorkerVariablesTest, ErrorThatOnlyNamesAPeerBlamesWhoTellsIt) {
  StartWorkers();
  session_->TakeActions();
  ASSERT_TRUE(
      Leave(kWorker0, absl::UnavailableError("worker-1 at host-b:1 said so"))
          .ok());
  EXPECT_EQ(Take<Ended>()->task, kWorker0);
}

TEST_F(WorkerVariablesTest, ErrorOfACheckpointKeepsABlameOfAMember) {
  StartWorkers();
  for (const bool is_member : {true, false}) {
    v1::ReportCheckpointRequest request;
    *request.mutable_member() = MemberOf(kWorker0);
    const TaskId blamed = is_member ? kWorker1 : kPs0;
    *request.mutable_error() = ErrorToProto(
        WithBlame(absl::UnavailableError("gone"), {blamed, "elsewhere:1", ""}));
    ASSERT_TRUE(session_->ReportCheckpoint(request).ok());
    const auto report = Take<CheckpointReported>();
    ASSERT_TRUE(report);
    EXPECT_EQ(report->status.message(), "gone");
    EXPECT_EQ(BlameOf(report->status),
              is_member ? std::optional<Blame>({kWorker1, "host-b:1", ""})
                        : std::nullopt);
  }
}

TEST_F(WorkerVariablesTest, WhoWaitsForALongStepOfAnotherIsNotStuck) {
  StartWorkers();
  ASSERT_TRUE(Acquire(kWorker0));
  ASSERT_TRUE(Acquire(kWorker1));
  for (int second = 0; second < 200; ++second) {
    BeatAtWork(kWorker0, 1, "the all-reduce of 2 replicas");
    BeatAtWork(kWorker1, 1 + second / 50, "");
    now_ += absl::Seconds(1);
    session_->Tick(now_);
    ASSERT_FALSE(session_->ended()) << second;
  }
}

TEST_F(WorkerVariablesTest, TheOneThatWaitsForNobodyIsStuck) {
  StartWorkers();
  ASSERT_TRUE(Acquire(kWorker0));
  ASSERT_TRUE(Acquire(kWorker1));
  session_->TakeActions();
  for (int second = 0; second < 62 && !session_->ended(); ++second) {
    BeatAtWork(kWorker0, 1, "the all-reduce of 2 replicas");
    BeatAtWork(kWorker1, 1, "");
    now_ += absl::Seconds(1);
    session_->Tick(now_);
  }
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->task, kWorker1);
  EXPECT_THAT(std::string(ended->status.message()),
              AllOf(HasSubstr("worker-1"), HasSubstr("the all-reduce")));
}

}  // namespace
}  // namespace paceline
