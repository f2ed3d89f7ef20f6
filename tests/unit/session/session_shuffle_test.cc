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
  // How a job ends that goes on from this state; nullopt: it goes on.
  std::optional<Ended> Resume(std::shared_ptr<const nlohmann::json> state) {
    options_.restore_path = "/out";
    options_.restore = std::move(state);
    for (const TaskId task : {kPs0, kWorker0, kWorker1}) Restart(task);
    Start();
    return Take<Ended>();
  }
  // From one of an earlier release, which does not have the key.
  std::optional<Ended> ResumeWithout(const char* key, nlohmann::json state) {
    EXPECT_EQ(state.erase(key), 1);
    return Resume(std::make_shared<const nlohmann::json>(std::move(state)));
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
  EXPECT_FALSE(Resume(checkpoint->state));
  options_.job.set_seed(8);
  const auto other_seed = Resume(checkpoint->state);
  ASSERT_TRUE(other_seed);
  EXPECT_EQ(other_seed->status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Message(other_seed),
            "data.train.shuffle: the checkpoint was taken in the middle of an "
            "epoch whose examples are shuffled by seed 7; those of the job now "
            "are shuffled by seed 8; expected the same `seed` and `shuffle`");
  EXPECT_FALSE(ResumeWithout("shuffle", *checkpoint->state));
  options_.job.set_seed(7);
  train.set_shuffle_buffer_size(100);
  EXPECT_THAT(Message(Resume(checkpoint->state)),
              HasSubstr("are shuffled by seed 7 in a buffer of 100;"));
  train.set_shuffle(false);
  EXPECT_THAT(Message(Resume(checkpoint->state)),
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
  EXPECT_FALSE(Resume(checkpoint->state));
}

// Two epochs are a pass.
TEST_F(SessionShuffleTest, AnotherMayNotFollowAnEpochThatEndsWithinAPass) {
  options_.job.mutable_data()->mutable_train()->set_shuffle(true);
  options_.job.set_seed(7);
  options_.job.set_steps_per_epoch(50);
  options_.job.set_epochs(3);
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Start();
  const auto within = WorkUntilCheckpoint();
  ASSERT_TRUE(within);
  session_->SnapshotTaken(absl::OkStatus(), now_);
  session_->CheckpointWritten(absl::OkStatus(), now_);
  const auto after = WorkUntilCheckpoint();
  ASSERT_TRUE(after);
  EXPECT_FALSE(Resume(within->state));
  options_.job.set_seed(8);
  EXPECT_FALSE(Resume(after->state));
  EXPECT_EQ(Message(Resume(within->state)),
            "data.train.shuffle: the checkpoint was taken in the middle of a "
            "pass over the examples, which are shuffled by seed 7; those of "
            "the job now are shuffled by seed 8; expected the same `seed` and "
            "`shuffle`");
  EXPECT_FALSE(ResumeWithout("round_examples", *within->state));
}

}  // namespace
}  // namespace paceline
