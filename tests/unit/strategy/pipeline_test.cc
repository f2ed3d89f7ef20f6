// `pipeline: 1`: steps that begin while the pushes of the last one are under
// way.

#include <optional>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/strategy/parameter_server_fixture.h"
#include "worker/strategy/staged_chunk.h"

namespace paceline {
namespace {

using ::testing::Each;
using ::testing::FloatNear;
using ::testing::Pointwise;

// One push changes each variable by this.
constexpr float kGradient = 0.25f;
constexpr float kChange = 0.5f * kGradient;

class PipelineTest : public ParameterServerFixture {
 protected:
  bool pipelines() const override { return true; }

  void SetUp() override {
    ParameterServerFixture::SetUp();
    ASSERT_TRUE(strategy_->PullVariables().ok());
    first_ = Variables();
  }

  // No push reaches a server until StartServers.
  void StopServers() {
    for (const auto& server : servers_) server->rpc.reset();
  }
  void StartServers() {
    for (const auto& server : servers_) server->Start(server->member.address());
  }

  void Begin(bool ends_lease = false) { HandOver(kGradient, ends_lease); }
  int64_t End() {
    const auto number = strategy_->EndStep(v1::Progress());
    EXPECT_TRUE(number.ok()) << number.status();
    return number.value_or(-1);
  }

  // Until the chunk that leaves early is applied.
  void AwaitStepOfTheFirst(uint64_t step) {
    const absl::Time deadline = MonotonicNow() + absl::Seconds(10);
    while (AwaitSteps(*servers_[0], 0) < step && MonotonicNow() < deadline) {
      // The worker may not have the answers of the last step yet.
      ASSERT_TRUE(strategy_->GradientsReady(0).ok());
    }
    EXPECT_EQ(AwaitSteps(*servers_[0], 0), step);
  }

  // What pushes changed, by element.
  std::vector<float> Changes() {
    std::vector<float> changes = Variables();
    for (size_t i = 0; i < changes.size(); ++i) {
      changes[i] = first_[i] - changes[i];
    }
    return changes;
  }

  std::vector<float> first_;
};

TEST_F(PipelineTest, AStepBeginsWhileThePushesOfTheLastOneAreUnderWay) {
  StopServers();
  Begin();
  EXPECT_EQ(End(), Strategy::kNotAppliedYet);
  EXPECT_EQ(strategy_->late_step(), std::nullopt);
  EXPECT_THAT(Changes(), Each(0.0f));
  StartServers();
  // Waits for the first push, and has the variables of its answer.
  Begin();
  EXPECT_EQ(End(), Strategy::kNotAppliedYet);
  EXPECT_EQ(strategy_->late_step(), 1);
  EXPECT_THAT(Changes(), Each(FloatNear(kChange, 1e-6f)));
}

// A section of the next step may write the gradients and read the variables.
TEST_F(PipelineTest, PushesUseNoMemoryOfTheDevice) {
  StopServers();
  Begin();
  End();
  FillGradients(1e6f);
  StartServers();
  strategy_->BeginStep(v1::Progress(), /*ends_lease=*/true);
  // Until the strategy has the answers, and begins to push this step.
  const absl::Time deadline = MonotonicNow() + absl::Seconds(10);
  while (!strategy_->late_step() && MonotonicNow() < deadline) {
    absl::SleepFor(absl::Milliseconds(1));
    ASSERT_TRUE(strategy_->GradientsReady(0).ok());
  }
  EXPECT_EQ(strategy_->late_step(), 1);
  EXPECT_THAT(Changes(), Each(0.0f));
  FillGradients(kGradient);
  HandOver(*strategy_);
  EXPECT_EQ(End(), 2);
  EXPECT_THAT(Changes(), Each(FloatNear(2 * kChange, 1e-6f)));
}

// They were final while the pushes of the last step were under way.
TEST_F(PipelineTest, ChunksThatWaitedLeaveAsSoonAsTheyMay) {
  StopServers();
  Begin();
  End();
  Begin();
  StartServers();
  AwaitStepOfTheFirst(2);
  EXPECT_EQ(AwaitSteps(*servers_[1], 0), 1u);
  EXPECT_EQ(End(), Strategy::kNotAppliedYet);
  EXPECT_THAT(Changes(), Each(FloatNear(kChange, 1e-6f)));
}

TEST_F(PipelineTest, TheLastStepOfALeaseWaitsForItsPushes) {
  for (int step = 1; step <= 4; ++step) {
    Begin(/*ends_lease=*/step % 2 == 0);
    EXPECT_EQ(End(), step % 2 == 0 ? step : Strategy::kNotAppliedYet);
    EXPECT_THAT(
        Changes(),
        Each(FloatNear(kChange * static_cast<float>(step - step % 2), 1e-6f)))
        << step;
  }
}

// Once the pushes of the last step have ended, chunks leave early.
TEST_F(PipelineTest, ChunksLeaveBeforeTheStepEnds) {
  Begin();
  End();
  for (const auto& server : servers_) EXPECT_EQ(AwaitSteps(*server, 1), 1u);
  Begin();
  AwaitStepOfTheFirst(2);
  EXPECT_EQ(AwaitSteps(*servers_[1], 0), 1u);
  // Those that left have taken over the variables of the first step.
  End();
  EXPECT_THAT(Changes(), Each(FloatNear(kChange, 1e-6f)));
}

class ClippedPipelineTest : public PipelineTest {
 protected:
  std::string JobText() const override { return ClippedJob(); }
};

// All chunks leave at the end, with each variable's gradient cut to the norm.
TEST_F(ClippedPipelineTest, EachPushIsClipped) {
  for (int step = 1; step <= 3; ++step) {
    Begin(/*ends_lease=*/step == 3);
    End();
  }
  double squares = 0;
  for (const float change : Changes()) squares += change * change;
  const double norm = 3 * 0.5 * 0.1;
  EXPECT_NEAR(squares, 4 * norm * norm, 1e-6) << "of four variables";
}

class StatisticsPipelineTest : public PipelineTest {
 protected:
  std::string JobText() const override { return NormalizedJob(); }
};

// Deltas refer to the variables of their step, which an answer replaces.
TEST_F(StatisticsPipelineTest, MovingStatisticsAreThoseOfTheBatches) {
  ASSERT_EQ(plan_.layout().buckets()[0].update, VariableUpdate::kDelta);
  constexpr int kSteps = 6;
  const auto statistics = FloatsOf(state_->host_variables(0));
  const auto deltas = FloatsOf(state_->host_gradients(0));
  std::vector<float> expected(statistics.begin(), statistics.end());
  for (int step = 1; step <= kSteps; ++step) {
    const float batch = step % 3 == 0 ? 2.0f : 0.25f;
    strategy_->BeginStep(v1::Progress(), step == kSteps);
    for (size_t i = 0; i < expected.size(); ++i) {
      deltas[i] = 0.7f * (batch - statistics[i]);
      expected[i] = 0.3f * expected[i] + 0.7f * batch;
    }
    HandOver(*strategy_);
    End();
  }
  EXPECT_THAT(std::vector<float>(statistics.begin(), statistics.end()),
              Pointwise(FloatNear(1e-5f), expected));
}

TEST_F(PipelineTest, AFailedPushEndsTheNextStep) {
  v1::FenceRequest fence;
  fence.mutable_worker()->set_incarnation(5);
  v1::FenceResponse response;
  ASSERT_TRUE(servers_[0]->shard.Fence(fence, response).ok());
  Begin();
  ASSERT_TRUE(strategy_->EndStep(v1::Progress()).ok());
  strategy_->BeginStep(v1::Progress(), false);
  const auto number = strategy_->EndStep(v1::Progress());
  EXPECT_EQ(number.status().code(), absl::StatusCode::kAborted)
      << number.status();
}

TEST(StagedChunkTest, AGradientHasTheVersionOfTheVariablesInHostMemory) {
  std::vector<std::byte> host_gradients(4), host_variables(4);
  StagedChunk chunk;
  const StagedChunk::Copies copies = chunk.AddBlock(
      absl::MakeSpan(host_gradients), absl::MakeSpan(host_variables));
  std::vector<DenseBuffer> received = {{copies.variables}};
  std::vector<DenseValues> sent(1);
  received[0].version = 7;
  chunk.TakeVariables(received);
  // The answer to the last push, which this step was computed without.
  received[0].version = 8;
  chunk.StageGradients(absl::MakeSpan(sent));
  EXPECT_EQ(sent[0].version, 7u);
  chunk.TakeVariables(received);
  chunk.StageGradients(absl::MakeSpan(sent));
  EXPECT_EQ(sent[0].version, 8u);
}

}  // namespace
}  // namespace paceline
