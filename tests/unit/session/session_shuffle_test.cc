// Checkpoints of a job that is resumed with its examples in another order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "common/session/machine/session.h"
#include "nlohmann/json.hpp"
#include "tests/unit/session/session_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

class SessionShuffleTest : public SessionTest {
 protected:
  std::optional<TakeCheckpoint> WorkUntilCheckpoint() {
    WorkUntilIdle(kWorker0);
    return Take<TakeCheckpoint>();
  }
};

TEST_F(SessionShuffleTest, AnotherCannotGoOnInMidEpoch) {
  v1::Dataset& train = *options_.job.mutable_data()->mutable_train();
  train.set_shuffle(true);
  options_.job.set_seed(7);
  options_.job.mutable_checkpoint()->set_every_steps(50);
  Start();
  const auto checkpoint = WorkUntilCheckpoint();
  ASSERT_TRUE(checkpoint);
  options_.restore_path = "/out";
  const auto resume = [&](std::shared_ptr<const nlohmann::json> state) {
    options_.restore = std::move(state);
    for (const TaskId task : {kPs0, kWorker0, kWorker1}) Restart(task);
    Start();
    return Take<Ended>();
  };
  EXPECT_FALSE(resume(checkpoint->state));
  options_.job.set_seed(8);
  const auto other_seed = resume(checkpoint->state);
  ASSERT_TRUE(other_seed);
  EXPECT_EQ(other_seed->status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Message(other_seed),
            "data.train.shuffle: the checkpoint was taken in the middle of an "
            "epoch whose examples are shuffled by seed 7; those of the job now "
            "are shuffled by seed 8; expected the same `seed` and `shuffle`");
  // That of an earlier release does not say how it shuffles.
  nlohmann::json earlier = *checkpoint->state;
  earlier.erase("shuffle");
  EXPECT_FALSE(resume(std::make_shared<const nlohmann::json>(earlier)));
  options_.job.set_seed(7);
  train.set_shuffle_buffer_size(100);
  EXPECT_THAT(Message(resume(checkpoint->state)),
              HasSubstr("are shuffled by seed 7 in a buffer of 100;"));
  train.set_shuffle(false);
  EXPECT_THAT(Message(resume(checkpoint->state)),
              HasSubstr("are shuffled not at all;"));
}

TEST_F(SessionShuffleTest, AnotherMayFollowAnEpoch) {
  options_.job.mutable_data()->mutable_train()->set_shuffle(true);
  options_.job.set_epochs(2);
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Start();
  const auto checkpoint = WorkUntilCheckpoint();
  ASSERT_TRUE(checkpoint);
  options_.job.set_seed(8);
  options_.restore = checkpoint->state;
  options_.restore_path = "/out";
  for (const TaskId task : {kPs0, kWorker0, kWorker1}) Restart(task);
  Start();
  EXPECT_FALSE(Take<Ended>());
}

}  // namespace
}  // namespace paceline
