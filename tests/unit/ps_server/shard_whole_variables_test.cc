// Shards of a job whose optimizer needs whole variables.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/unit/ps_server/shard_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

class WholeVariablesTest : public ShardTest {
 protected:
  // Calls would carry two elements each if variables were cut.
  static v1::Job JobOf(const std::string& optimizer) {
    v1::Job job = SmallJob();
    job.mutable_optimizer()->Clear();
    job.mutable_optimizer()->set_class_name(optimizer);
    job.mutable_partitioner()->set_chunk_bytes(8);
    return job;
  }

  static std::unique_ptr<Shard> MakeShard(const std::string& optimizer,
                                          int shard, int shard_count) {
    auto result = std::make_unique<Shard>(kIncarnation, DataType::kFloat32);
    v1::InitializeRequest request = InitializeRequest(shard, shard_count);
    *request.mutable_job() = JobOf(optimizer);
    v1::InitializeResponse response;
    const absl::Status status = result->Initialize(request, response);
    EXPECT_TRUE(status.ok()) << status;
    AdmitAll(*result, kWorkersOfShard);
    return result;
  }

  // The variables of all chunks of a shard after a push to each.
  static std::vector<float> Train(Shard& shard) {
    std::vector<float> values;
    for (uint32_t chunk = 0; !BlockSizes(shard, chunk).empty(); ++chunk) {
      v1::PushRequest request = PushRequest(shard, 1, 0.25f, 7, chunk);
      request.set_pull(true);
      v1::PushResponse response;
      const absl::Status status = Push(shard, request, response);
      EXPECT_TRUE(status.ok()) << status;
      const std::vector<float> answered = ValuesOf<float>(response.variables());
      values.insert(values.end(), answered.begin(), answered.end());
    }
    return values;
  }
};

TEST_F(WholeVariablesTest, AnyNumberOfShardsUpdatesAlike) {
  for (const std::string optimizer : {"Lamb", "Muon"}) {
    std::vector<float> whole = Train(*MakeShard(optimizer, 0, 1));
    ASSERT_EQ(whole.size(), 26u);
    std::vector<float> parts;
    for (int s = 0; s < 3; ++s) {
      const std::vector<float> part = Train(*MakeShard(optimizer, s, 3));
      EXPECT_FALSE(part.empty());
      parts.insert(parts.end(), part.begin(), part.end());
    }
    std::sort(whole.begin(), whole.end());
    std::sort(parts.begin(), parts.end());
    EXPECT_THAT(parts, ElementsAreArray(whole)) << optimizer;
  }
}

TEST_F(WholeVariablesTest, RefusesPartsOfBlocks) {
  const auto shard = MakeShard("Lamb", 0, 1);
  const std::vector<float> before = Values(*shard);
  v1::PushRequest request = PushRequest(*shard, 1, 1.0f);
  request.mutable_gradients(0)->mutable_dense()->mutable_values()->resize(4);
  v1::PushResponse response;
  const absl::Status status = Push(*shard, request, response);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("gradients of block 0: 1 elements from 0; Lamb takes "
                        "those of the whole block, which has 2"));
  EXPECT_EQ(Values(*shard), before);
}

}  // namespace
}  // namespace paceline
