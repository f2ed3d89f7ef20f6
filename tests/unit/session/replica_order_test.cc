// Checkpoints amid an epoch whose order depends on the number of replicas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/session/machine/saved_session.h"
#include "common/session/machine/session.h"
#include "tests/unit/session/session_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using ReplicaOrderTest = SessionTest;

// `auto_shard_policy: file` and `off`, of replicas that step together.
TEST_F(ReplicaOrderTest, AnotherCannotGoOnInMidEpoch) {
  options_.job.mutable_checkpoint()->set_every_steps(20);
  options_.job.set_consistency(v1::CONSISTENCY_SYNC);
  v1::Dataset& train = *options_.job.mutable_data()->mutable_train();
  train.set_auto_shard_policy(v1::AUTO_SHARD_POLICY_FILE);
  Start();
  for (const TaskId worker : {kWorker0, kWorker1}) {
    const auto lease = Acquire(worker);
    ASSERT_TRUE(lease);
    ASSERT_TRUE(Beat(worker, {ReportOf(*lease, 200)}).ok());
  }
  const auto checkpoint = Take<TakeCheckpoint>();
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->state->at("order_replicas"), 2);
  options_.restore = checkpoint->state;
  options_.restore_path = "/out";
  const auto restart = [&] {
    for (const TaskId task : {kPs0, kWorker0, kWorker1}) Restart(task);
    Start();
    return Take<Ended>();
  };
  EXPECT_FALSE(restart());
  train.clear_auto_shard_policy();
  const auto ended = restart();
  ASSERT_TRUE(ended);
  EXPECT_THAT(std::string(ended->status.message()),
              AllOf(HasSubstr("data.train.auto_shard_policy: "),
                    HasSubstr("whose order is that of 2 replicas")));
}

TEST(SavedOrderTest, TheOrderIsThatOfSoManyReplicas) {
  SavedSession saved;
  saved.epoch_examples = 10;
  saved.remaining = {{0, 10}};
  EXPECT_FALSE(ToJson(saved).contains("order_replicas"));
  saved.order_replicas = 3;
  const auto read = SavedSessionFromJson(ToJson(saved));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->order_replicas, 3);
  EXPECT_TRUE(CheckSameEpoch(*read, 10, 3).ok());
  EXPECT_THAT(std::string(CheckSameEpoch(*read, 10, 4).message()),
              AllOf(HasSubstr("that of 3 replicas"),
                    HasSubstr("now is that of 4 replicas")));
  EXPECT_THAT(std::string(CheckSameEpoch(*read, 11, 3).message()),
              AllOf(HasSubstr("10 examples"), HasSubstr("now have 11")));
}

}  // namespace
}  // namespace paceline
