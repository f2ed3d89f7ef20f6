// A shard of several chunks: pushes of one step are applied, repeated and
// remembered chunk by chunk.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ps_server/shard.h"
#include "tests/unit/ps_server/shard_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

class ShardChunksTest : public ShardTest {
 protected:
  // Kernels of 3 rows of 4 and 4 rows of 2, biases of 4 and 2; 8 values a
  // chunk.
  static v1::Job Job() {
    v1::Job job = SmallJob();
    job.mutable_partitioner()->set_chunk_bytes(8 * sizeof(float));
    return job;
  }
  static constexpr uint32_t kChunks = 5;

  static uint32_t CountChunks(const Shard& shard) {
    uint32_t count = 0;
    while (!BlockSizes(shard, count).empty()) ++count;
    return count;
  }

  static std::vector<float> AllValues(Shard& shard) {
    std::vector<float> values;
    for (uint32_t chunk = 0; chunk < CountChunks(shard); ++chunk) {
      const std::vector<float> more = Values(shard, chunk);
      EXPECT_LE(more.size(), 8u);
      values.insert(values.end(), more.begin(), more.end());
    }
    return values;
  }

  static v1::PushResponse PushChunk(Shard& shard, uint64_t sequence,
                                    uint32_t chunk, float gradient = 1) {
    v1::PushResponse response;
    v1::PushRequest request =
        PushRequest(shard, sequence, gradient, /*worker=*/7, chunk);
    request.mutable_progress()->mutable_lease()->set_examples(10 * sequence);
    const absl::Status status = Push(shard, request, response);
    EXPECT_TRUE(status.ok()) << status;
    return response;
  }

  // A push of the first lease, after 10 examples more than the one before.
  static void PushReport(Shard& shard, uint64_t sequence, uint32_t chunk,
                         bool has_sums) {
    v1::PushRequest request =
        PushRequest(shard, sequence, 1.0F, /*worker=*/7, chunk);
    v1::LeaseReport& lease = *request.mutable_progress()->mutable_lease();
    lease.set_lease_id(1);
    lease.set_examples(10 * sequence);
    if (has_sums) {
      lease.mutable_sums()->add_states(5);
      lease.mutable_sums()->add_states(static_cast<double>(10 * sequence));
    }
    v1::PushResponse response;
    const absl::Status status = Push(shard, request, response);
    ASSERT_TRUE(status.ok()) << status;
  }

  // The one that pushes.
  static v1::FenceResponse FenceWorker(Shard& shard) {
    v1::FenceRequest request;
    request.mutable_worker()->set_rank(3);
    request.mutable_worker()->set_incarnation(7);
    v1::FenceResponse response;
    const absl::Status status = shard.Fence(request, response);
    EXPECT_TRUE(status.ok()) << status;
    return response;
  }

  static void PushAll(Shard& shard, uint64_t sequence, float gradient = 1) {
    for (uint32_t chunk = 0; chunk < CountChunks(shard); ++chunk) {
      PushChunk(shard, sequence, chunk, gradient);
    }
  }
};

TEST_F(ShardChunksTest, TogetherHoldWhatOneHolds) {
  const auto whole = MakeShard();
  const auto shard = MakeShardOf(Job(), kWorkersOfShard);
  EXPECT_EQ(CountChunks(*shard), kChunks);
  std::vector<float> expected = Values(*whole);
  std::vector<float> values = AllValues(*shard);
  EXPECT_THAT(values, ::testing::UnorderedElementsAreArray(expected));
  v1::PushResponse response;
  for (const uint64_t sequence : {1, 2}) {
    ASSERT_TRUE(
        Push(*whole, PushRequest(*whole, sequence, 0.25F), response).ok());
    PushAll(*shard, sequence, 0.25F);
  }
  expected = Values(*whole);
  values = AllValues(*shard);
  EXPECT_THAT(values, ::testing::UnorderedElementsAreArray(expected));
}

// The connection broke when the first half had been applied.
TEST_F(ShardChunksTest, RepeatOfAStepAppliesWhatWasNotYet) {
  const auto shard = MakeShardOf(Job(), kWorkersOfShard);
  const auto other = MakeShardOf(Job(), kWorkersOfShard);
  PushChunk(*shard, 1, 0);
  PushChunk(*shard, 1, 1);
  for (uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    EXPECT_EQ(PushChunk(*shard, 1, chunk).applied(), chunk >= 2) << chunk;
  }
  PushAll(*other, 1);
  EXPECT_EQ(AllValues(*shard), AllValues(*other));
}

TEST_F(ShardChunksTest, FenceTellsHowFarTheFurthestChunkIs) {
  const auto shard = MakeShardOf(Job(), kWorkersOfShard);
  PushAll(*shard, 1);
  PushChunk(*shard, 2, 0);
  const v1::FenceResponse fenced = FenceWorker(*shard);
  EXPECT_EQ(fenced.progress().sequence(), 2u);
  EXPECT_EQ(fenced.progress().lease().examples(), 20u);
  for (uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    v1::PushResponse response;
    EXPECT_EQ(
        Push(*shard, PushRequest(*shard, 3, 1.0F, 7, chunk), response).code(),
        absl::StatusCode::kAborted);
  }
}

// The worker was lost after its second step's first chunk, which left early.
TEST_F(ShardChunksTest, FenceTellsTheLastSumsBesideAFurtherPush) {
  const auto shard = MakeShardOf(Job(), kWorkersOfShard);
  for (uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    PushReport(*shard, 1, chunk, /*has_sums=*/chunk + 1 == kChunks);
  }
  PushReport(*shard, 2, 0, /*has_sums=*/false);
  const v1::FenceResponse fenced = FenceWorker(*shard);
  EXPECT_EQ(fenced.progress().sequence(), 2u);
  EXPECT_EQ(fenced.progress().lease().examples(), 20u);
  EXPECT_FALSE(fenced.progress().lease().has_sums());
  EXPECT_EQ(fenced.summed().sequence(), 1u);
  EXPECT_EQ(fenced.summed().lease().sums().states(1), 10);
}

// Which chunk leaves last, and so has the sums, may differ from step to step.
TEST_F(ShardChunksTest, AChunkKeepsItsSumsBesideALaterPushWithout) {
  const auto shard = MakeShardOf(Job(), kWorkersOfShard);
  for (uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    PushReport(*shard, 1, chunk, /*has_sums=*/chunk == 0);
  }
  PushReport(*shard, 2, 0, /*has_sums=*/false);
  const v1::FenceResponse fenced = FenceWorker(*shard);
  EXPECT_EQ(fenced.progress().sequence(), 2u);
  EXPECT_EQ(fenced.summed().sequence(), 1u);
  EXPECT_EQ(fenced.summed().lease().sums().states(1), 10);
}

TEST_F(ShardChunksTest, CheckpointRestoresThemWithWhatTheyRemember) {
  std::vector<std::unique_ptr<Shard>> shards;
  shards.push_back(MakeShardOf(Job(), kWorkersOfShard));
  PushAll(*shards[0], 1);
  PushAll(*shards[0], 2);
  const std::string folder = WriteCheckpoint(shards, Job());
  const auto restored = MakeShardOf(Job(), kWorkersOfShard, folder);
  EXPECT_EQ(AllValues(*restored), AllValues(*shards[0]));
  for (uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    const v1::PushResponse repeat = PushChunk(*restored, 2, chunk);
    EXPECT_FALSE(repeat.applied());
    EXPECT_EQ(repeat.step(), 2u);
  }
  // Slots as well; and a reader need not cut as the writer did.
  const auto whole = MakeShardOf(SmallJob(), kWorkersOfShard, folder);
  PushAll(*restored, 3);
  PushAll(*whole, 3);
  EXPECT_THAT(AllValues(*restored),
              ::testing::UnorderedElementsAreArray(Values(*whole)));
}

// A worker was lost in the middle of a step.
TEST_F(ShardChunksTest, CheckpointTellsChunksThatAreFurtherOn) {
  std::vector<std::unique_ptr<Shard>> shards;
  shards.push_back(MakeShardOf(Job(), kWorkersOfShard));
  PushAll(*shards[0], 1);
  PushChunk(*shards[0], 2, 3);
  const auto restored =
      MakeShardOf(Job(), kWorkersOfShard, WriteCheckpoint(shards, Job()));
  for (uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    EXPECT_FALSE(PushChunk(*restored, 1, chunk).applied());
    EXPECT_EQ(PushChunk(*restored, 2, chunk).applied(), chunk != 3);
  }
}

TEST_F(ShardChunksTest, RefusesAChunkThatIsNotThere) {
  const auto shard = MakeShardOf(Job(), kWorkersOfShard);
  v1::PullRequest request;
  request.set_ps_incarnation(kIncarnation);
  request.set_chunk(kChunks);
  v1::PullResponse response;
  const absl::Status status = Pull(*shard, request, response);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("a call for chunk 5: the shard has 5 chunks"));
}

}  // namespace
}  // namespace paceline
