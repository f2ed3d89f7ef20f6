// Checkpoints of a job whose order of examples depends on the number of
// replicas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "common/session/machine/saved_session.h"
#include "common/session/machine/session.h"
#include "tests/unit/session/session_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Workers that step together, with `auto_shard_policy: file`.
class ReplicaOrderTest : public SessionTest {
 protected:
  ReplicaOrderTest() {
    options_.job.mutable_checkpoint()->set_every_steps(20);
    options_.job.set_consistency(v1::CONSISTENCY_SYNC);
    options_.job.mutable_data()->mutable_train()->set_auto_shard_policy(
        v1::AUTO_SHARD_POLICY_FILE);
  }

  // Two workers do their halves of leases.
  std::optional<TakeCheckpoint> WorkUntilCheckpoint() {
    while (const auto lease = Acquire(kWorker0)) {
      const auto same = Acquire(kWorker1);
      EXPECT_TRUE(same);
      if (!same) break;
      const int64_t half = (lease->end() - lease->begin()) / 2;
      EXPECT_TRUE(Beat(kWorker0, {ReportOf(*lease, half)}).ok());
      EXPECT_TRUE(Beat(kWorker1, {ReportOf(*same, half)}).ok());
    }
    return Take<TakeCheckpoint>();
  }

  // The checkpoint after the first of two epochs of 20 steps.
  std::optional<TakeCheckpoint> WorkForAnEpoch() {
    options_.job.set_epochs(2);
    options_.job.set_steps_per_epoch(20);
    options_.job.mutable_checkpoint()->set_every_steps(0);
    options_.job.mutable_checkpoint()->set_every_epochs(1);
    Start();
    return WorkUntilCheckpoint();
  }

  // Resumes with `workers`. The error with which the job ends, if it does.
  std::optional<Ended> Resume(const TakeCheckpoint& from, int workers) {
    options_.restore = from.state;
    options_.restore_path = "/out";
    options_.tasks.resize(1);
    for (int i = 0; i < workers; ++i) {
      options_.tasks.push_back({{TaskType::kWorker, i}, "host"});
    }
    for (const ExpectedTask& task : options_.tasks) Restart(task.id);
    Start();
    // The shards admit the first two by themselves.
    for (int i = 2; i < workers; ++i) Admit({{TaskType::kWorker, i}});
    return Take<Ended>();
  }
};

TEST_F(ReplicaOrderTest, AnotherNumberCannotGoOnInMidEpoch) {
  Start();
  const auto checkpoint = WorkUntilCheckpoint();
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->state->at("order_replicas"), 2);
  EXPECT_EQ(checkpoint->state->at("round_examples"), 1000);
  EXPECT_FALSE(Resume(*checkpoint, 2));
  const auto ended = Resume(*checkpoint, 3);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Message(ended),
            "data.train.auto_shard_policy: the checkpoint was taken in the "
            "middle of an epoch whose order is that of 2 replicas; that of the "
            "job now is that of 3 replicas");
}

// Of so many examples, the first epoch has 400 with 2 workers, and would have
// had 600 with 3.
TEST_F(ReplicaOrderTest, AnotherNumberCannotGoOnInMidRound) {
  for (const int64_t examples : {1000, 600, 400}) {
    SCOPED_TRACE(examples);
    train_examples_ = examples;
    options_.tasks.resize(3);
    options_.restore = nullptr;
    for (const TaskId task : {kPs0, kWorker0, kWorker1}) Restart(task);
    const auto checkpoint = WorkForAnEpoch();
    ASSERT_TRUE(checkpoint);
    EXPECT_EQ(checkpoint->state->at("epoch"), 1);
    EXPECT_FALSE(Resume(*checkpoint, 2));
    EXPECT_EQ(Message(Resume(*checkpoint, 3)),
              "data.train.auto_shard_policy: the checkpoint was taken in the "
              "middle of a pass over the examples whose order is that of 2 "
              "replicas; that of the job now is that of 3 replicas");
  }
}

TEST_F(ReplicaOrderTest, AnotherNumberGoesOnBehindAWholeRound) {
  train_examples_ = 400;
  options_.job.set_global_batch_size(20);
  const auto checkpoint = WorkForAnEpoch();
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->state->at("order_replicas"), 2);
  EXPECT_EQ(Message(Resume(*checkpoint, 3)), "not ended");
  EXPECT_TRUE(Acquire(kWorker0));
}

// `saved` in the middle of the second of three epochs.
SavedSession InMidEpoch() {
  SavedSession saved;
  saved.epoch = 1;
  saved.epoch_examples = 10;
  saved.order_replicas = 3;
  saved.round_examples = 20;
  saved.counted.examples = 4;
  saved.remaining = {{4, 10}};
  return saved;
}

TEST(SavedOrderTest, TheOrderIsThatOfSoManyReplicas) {
  SavedSession saved = InMidEpoch();
  saved.history.resize(1);
  const auto read = SavedSessionFromJson(ToJson(saved));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->order_replicas, 3);
  EXPECT_EQ(read->round_examples, 20);
  saved.order_replicas = 0;
  EXPECT_FALSE(ToJson(saved).contains("order_replicas"));
  EXPECT_EQ(ToJson(saved).at("round_examples"), 20);
}

TEST(SavedOrderTest, OnlyWhatRemainsNeedsTheSameOrder) {
  SavedSession saved = InMidEpoch();
  SavedSession now = saved;
  EXPECT_TRUE(CheckGoesOn(saved, now, 3).ok());
  now.order_replicas = 4;
  EXPECT_THAT(std::string(CheckGoesOn(saved, now, 3).message()),
              AllOf(HasSubstr("middle of an epoch whose order is that of 3 "),
                    HasSubstr("now is that of 4 replicas")));
  // The order comes first, since it names the field.
  now.epoch_examples = 11;
  EXPECT_THAT(std::string(CheckGoesOn(saved, now, 3).message()),
              HasSubstr("whose order is that of 3 replicas"));
  now.order_replicas = 3;
  EXPECT_THAT(std::string(CheckGoesOn(saved, now, 3).message()),
              AllOf(HasSubstr("10 examples"), HasSubstr("now have 11")));

  // Its validation is left, or nothing.
  now = saved;
  now.order_replicas = 4;
  saved.counted.examples = 10;
  saved.remaining.clear();
  EXPECT_TRUE(CheckGoesOn(saved, now, 3).ok()) << "a round has ended";
  saved.round_examples = 15;
  EXPECT_THAT(std::string(CheckGoesOn(saved, now, 3).message()),
              HasSubstr("middle of a pass over the examples whose order"));
  EXPECT_TRUE(CheckGoesOn(saved, now, 2).ok()) << "no epoch follows";
  saved.stopped = true;
  EXPECT_TRUE(CheckGoesOn(saved, now, 3).ok()) << "no epoch follows";
}

}  // namespace
}  // namespace paceline
