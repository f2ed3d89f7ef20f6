// Shards with variables that are not trained.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "ps_server/shard.h"
#include "tests/unit/ps_server/shard_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

// The first Dense: a chunk behind that of the second.
v1::Job FrozenJob() {
  v1::Job job = SmallJob();
  (*job.mutable_model()
        ->mutable_layers(1)
        ->mutable_config()
        ->mutable_fields())["trainable"]
      .set_bool_value(false);
  return job;
}

TEST_F(ShardTest, FrozenChunksAreOnlyPulled) {
  for (const uint32_t workers : {1, 2}) {
    v1::Job job = FrozenJob();
    if (workers == 2) job.set_consistency(v1::CONSISTENCY_SYNC);
    const std::unique_ptr<Shard> shard = MakeShardOf(job, workers);
    EXPECT_EQ(BlockSizes(*shard, 0).size(), 1u);
    EXPECT_EQ(BlockSizes(*shard, 0)[0], 10 * sizeof(float));
    const std::vector<float> before = Values(*shard, /*chunk=*/1);
    EXPECT_EQ(before.size(), 16u);
    v1::PushResponse response;
    const absl::Status status =
        Push(*shard, PushRequest(*shard, 1, 1.0f, 7, /*chunk=*/1), response);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("are frozen"));
    EXPECT_EQ(Values(*shard, 1), before);
  }
}

// What it knows of workers is that of the chunks that are pushed to.
TEST_F(ShardTest, ACheckpointWithFrozenChunksGoesOn) {
  const v1::Job job = FrozenJob();
  std::vector<std::unique_ptr<Shard>> shards;
  shards.push_back(MakeShardOf(job, kWorkersOfShard));
  v1::PushResponse response;
  const v1::PushRequest push = PushRequest(*shards[0], 1, 1.0f);
  ASSERT_TRUE(Push(*shards[0], push, response).ok());
  const auto restored =
      MakeShardOf(job, kWorkersOfShard, WriteCheckpoint(shards, job));
  for (const uint32_t chunk : {0, 1}) {
    EXPECT_EQ(Values(*restored, chunk), Values(*shards[0], chunk)) << chunk;
  }
  response.Clear();
  ASSERT_TRUE(Push(*restored, push, response).ok());
  EXPECT_FALSE(response.applied());
  EXPECT_EQ(response.step(), 1u);
}

TEST_F(ShardTest, RestoreRefusesToTrainWhatWasFrozen) {
  const v1::Job frozen = FrozenJob();
  std::vector<std::unique_ptr<Shard>> shards;
  shards.push_back(MakeShardOf(frozen, 1));
  const std::string folder = WriteCheckpoint(shards, frozen);
  MakeShardOf(frozen, 1, folder);
  Shard shard(kIncarnation);
  v1::InitializeResponse response;
  const absl::Status status =
      shard.Initialize(InitializeRequest(0, 1, folder), response);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("has no momentum of dense/"));
}

}  // namespace
}  // namespace paceline
