// How pushes to a chunk accumulate.
#include "ps_server/chunk_variables.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "tests/unit/ps_server/shard_fixture.h"

namespace paceline {
namespace {

using ::testing::Each;

// Two calls make an update; SGD without momentum, rate 0.5.
v1::Job AccumulatingJob() {
  v1::Job job = SmallJob();
  auto& config = *job.mutable_optimizer()->mutable_config()->mutable_fields();
  config.erase("momentum");
  config["gradient_accumulation_steps"].set_number_value(2);
  return job;
}

// Pushes gradients that are all `gradient` to all blocks of a chunk.
void Apply(ChunkVariables& variables, int64_t iterations, float gradient) {
  std::vector<std::vector<float>> memory;
  std::vector<DenseValues> gradients;
  for (const size_t size : variables.block_sizes()) {
    memory.emplace_back(size / sizeof(float), gradient);
    gradients.push_back(
        {static_cast<uint32_t>(gradients.size()),
         v1::DATA_TYPE_FLOAT32,
         /*version=*/0,
         {reinterpret_cast<const std::byte*>(memory.back().data()), size}});
  }
  const absl::Status status = variables.Check(gradients);
  ASSERT_TRUE(status.ok()) << status;
  variables.Apply({iterations}, gradients);
}

std::vector<float> ValuesOf(const SnapshotTensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

// Asynchronous pushes are applied in another order than they are numbered.
TEST(ChunkVariablesTest, TheLastCallsUpdateInWhateverOrderTheyCome) {
  for (const auto& [first, second] : {std::pair(0, 1), std::pair(1, 0)}) {
    SCOPED_TRACE(first);
    const auto chunks = ChunkVariables::Create(
        AccumulatingJob(), /*shard=*/0, /*shard_count=*/1, DataType::kFloat32);
    ASSERT_TRUE(chunks.ok()) << chunks.status();
    ASSERT_EQ(chunks->size(), 1u);
    ChunkVariables& variables = *chunks->front();
    Apply(variables, first, 1);
    Apply(variables, second, 2);
    std::vector<SnapshotTensor> tensors;
    variables.CopyTo(tensors);
    EXPECT_EQ(tensors.size(), 8u);
    for (const SnapshotTensor& tensor : tensors) {
      const bool is_accumulator =
          absl::StrContains(tensor.name, "/gradient_accumulator");
      EXPECT_THAT(ValuesOf(tensor), Each(is_accumulator ? 0 : -0.75F))
          << tensor.name;
    }
  }
}

// The blocks go on counting where they were.
TEST_F(ShardTest, ACheckpointGoesOnAmidAnAccumulation) {
  const v1::Job job = AccumulatingJob();
  std::vector<std::unique_ptr<Shard>> shards;
  shards.push_back(MakeShardOf(job, kWorkersOfShard));
  const std::vector<float> before = Values(*shards[0]);
  v1::PushResponse response;
  for (const uint64_t sequence : {1, 2, 3}) {
    ASSERT_TRUE(
        Push(*shards[0], PushRequest(*shards[0], sequence, 1.0F), response)
            .ok());
  }
  const auto restored =
      MakeShardOf(job, kWorkersOfShard, WriteCheckpoint(shards, job));
  ASSERT_TRUE(Push(*restored, PushRequest(*restored, 4, 2.0F), response).ok());
  EXPECT_EQ(response.step(), 4u);
  const std::vector<float> after = Values(*restored);
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_FLOAT_EQ(after[i], before[i] - 0.5F * (1 + 1.5F));
  }
}

}  // namespace
}  // namespace paceline
