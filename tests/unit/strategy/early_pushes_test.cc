// Pushes that leave while a step goes on.

#include <string>

#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "gtest/gtest.h"
#include "tests/unit/strategy/parameter_server_fixture.h"

namespace paceline {
namespace {

// What a server knows of the worker that pushes.
v1::Progress ProgressAt(Server& server) {
  v1::FenceRequest request;
  request.mutable_worker()->set_incarnation(5);
  v1::FenceResponse response;
  const absl::Status status = server.shard.Fence(request, response);
  EXPECT_TRUE(status.ok()) << status;
  return response.progress();
}

v1::Progress PositionAfter(uint64_t examples) {
  v1::Progress position;
  position.mutable_lease()->set_lease_id(3);
  position.mutable_lease()->set_examples(examples);
  position.mutable_lease()->set_steps(1);
  return position;
}

// The server whose chunk leaves while the step goes on, and the one whose chunk
// is the last, which waits for the sums.
constexpr int kEarly = 0;
constexpr int kLast = 1;

class EarlyPushesTest : public ParameterServerFixture {};

TEST_F(EarlyPushesTest, ChunksLeaveBeforeTheStepEnds) {
  ASSERT_TRUE(strategy_->PullVariables().ok());
  v1::Progress progress = PositionAfter(4);
  strategy_->BeginStep(progress, false);
  HandOver(*strategy_);
  EXPECT_EQ(AwaitSteps(*servers_[kEarly], 1), 1u);
  EXPECT_EQ(AwaitSteps(*servers_[kLast], 0), 0u);
  progress.mutable_lease()->mutable_sums()->add_states(1.5);
  progress.mutable_lease()->mutable_sums()->add_states(4);
  ASSERT_TRUE(strategy_->EndStep(progress).ok());
  for (int shard = 0; shard < 2; ++shard) {
    const v1::Progress at_shard = ProgressAt(*servers_[shard]);
    EXPECT_EQ(at_shard.sequence(), 1u);
    EXPECT_EQ(at_shard.lease().examples(), 4u);
    EXPECT_EQ(at_shard.lease().sums().states_size(), shard == kEarly ? 0 : 2);
  }
}

class SeveralChunksTest : public ParameterServerFixture {
 protected:
  std::string JobText() const override {
    return absl::StrCat(absl::StrReplaceAll(kJob, {{"units: 8", "units: 80"}}),
                        "partitioner: {chunk_bytes: 1024}\n");
  }
};

// Its bucket is final first here.
TEST_F(SeveralChunksTest, TheLastChunkWaitsWhicheverIsFinalLast) {
  const auto& chunks = plan_.chunks(kLast);
  const auto bucket_count =
      static_cast<int>(plan_.layout().updated_buckets().size());
  ASSERT_GE(chunks.size(), 2u);
  ASSERT_EQ(chunks.back().blocks.front().bucket, bucket_count - 1);
  ASSERT_LT(chunks.front().blocks.front().bucket, bucket_count - 1);
  ASSERT_TRUE(strategy_->PullVariables().ok());
  strategy_->BeginStep(v1::Progress(), false);
  for (int bucket = bucket_count - 1; bucket >= 0; --bucket) {
    strategy_->BucketFinal(bucket);
  }
  EXPECT_EQ(AwaitSteps(*servers_[kEarly], 1), 1u);
  EXPECT_EQ(AwaitSteps(*servers_[kLast], 1), 1u);
  ASSERT_TRUE(strategy_->EndStep(v1::Progress()).ok());
}

class ClippedByNormTest : public ParameterServerFixture {
 protected:
  std::string JobText() const override { return ClippedJob(); }
};

// A norm needs all gradients.
TEST_F(ClippedByNormTest, ChunksLeaveAtTheEnd) {
  ASSERT_TRUE(strategy_->PullVariables().ok());
  HandOver(0.25f);
  absl::SleepFor(absl::Milliseconds(200));
  for (const auto& server : servers_) EXPECT_EQ(AwaitSteps(*server, 0), 0u);
  const auto number = strategy_->EndStep(v1::Progress());
  ASSERT_TRUE(number.ok()) << number.status();
  for (const auto& server : servers_) EXPECT_EQ(AwaitSteps(*server, 1), 1u);
}

class SynchronousTest : public EarlyPushesTest {
 protected:
  std::string JobText() const override {
    return absl::StrCat(kJob, "consistency: sync\n");
  }
  int worker_count() const override { return 2; }
};

// The worker is lost between the two chunks of its step, of which the server
// holds the first until the other worker pushes.
TEST_F(SynchronousTest, EndsACallThatAServerHolds) {
  ASSERT_TRUE(strategy_->PullVariables().ok());
  HandOver(0.25f);
  absl::SleepFor(absl::Milliseconds(200));
  const absl::Time start = MonotonicNow();
  strategy_.reset();
  EXPECT_LT(MonotonicNow() - start, absl::Seconds(10));
  // The leader shuts the worker out, and learns that no push was applied.
  EXPECT_EQ(ProgressAt(*servers_[kEarly]).sequence(), 0u);
}

// A section computes meanwhile, so nobody looks at the stream.
TEST_F(SynchronousTest, AnEarlyPushThatBreaksIsRepeatedWhileTheStepGoesOn) {
  ASSERT_TRUE(strategy_->PullVariables().ok());
  const Worker other = MakeWorker(1);
  HandOver(0.25f);
  Server& server = *servers_[kEarly];
  absl::SleepFor(absl::Milliseconds(200));
  server.rpc.reset();
  server.Start(server.member.address());
  other.strategy->BeginStep(v1::Progress(), false);
  HandOver(*other.strategy);
  EXPECT_EQ(AwaitSteps(server, 1), 1u);
}

// The other server, whose push leaves at the end, is never reached.
TEST_F(EarlyPushesTest, AFailureEndsTheStepBeforeItsLastBucket) {
  ASSERT_TRUE(strategy_->PullVariables().ok());
  v1::FenceRequest fence;
  fence.mutable_worker()->set_incarnation(5);
  v1::FenceResponse response;
  ASSERT_TRUE(servers_[kEarly]->shard.Fence(fence, response).ok());
  HandOver(0.25f);
  absl::Status status;
  const absl::Time deadline = MonotonicNow() + absl::Seconds(10);
  while (status.ok() && MonotonicNow() < deadline) {
    absl::SleepFor(absl::Milliseconds(1));
    status = strategy_->GradientsReady(0);
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  EXPECT_EQ(AwaitSteps(*servers_[kLast], 0), 0u);
}

}  // namespace
}  // namespace paceline
