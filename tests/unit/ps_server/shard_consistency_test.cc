// Shards whose answers wait for the pushes of others.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "ps_server/shard.h"
#include "tests/unit/ps_server/shard_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// A job whose three workers step together; SGD without momentum, rate 0.5.
v1::Job SynchronousJob(const std::string& clipping = "", double bound = 0) {
  v1::Job job = SmallJob();
  job.set_consistency(v1::CONSISTENCY_SYNC);
  auto& config = *job.mutable_optimizer()->mutable_config()->mutable_fields();
  config.erase("momentum");
  if (!clipping.empty()) config[clipping].set_number_value(bound);
  return job;
}

class SynchronousShardTest : public ShardTest {
 protected:
  static constexpr uint32_t kWorkers = 3;

  // Pushes gradients that are all 1, 2 and 4, in another order than ranks.
  void PushAll(Shard& shard, uint64_t sequence) {
    for (const uint32_t rank : {2u, 0u, 1u}) {
      requests_[rank] =
          PushRequest(shard, sequence, float(1 << rank), 8 + rank);
      requests_[rank].set_pull(true);
      responses_[rank].Clear();
      Push(shard, requests_[rank], responses_[rank],
           [this, rank](const absl::Status& status) {
             EXPECT_TRUE(status.ok()) << status;
             answered_.push_back(rank);
           });
    }
  }

  // Applies the sum of step `step` with the norms that the shard has told.
  void ApplySum(Shard& shard, uint64_t step) {
    v1::ApplyRequest request;
    request.set_ps_incarnation(kIncarnation);
    request.set_step(step);
    *request.mutable_squared_norms() = responses_[0].squared_norms();
    v1::ApplyResponse response;
    const absl::Status status = Apply(shard, request, response);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(response.step(), step);
  }

  v1::PushRequest requests_[kWorkers];
  v1::PushResponse responses_[kWorkers];
  std::vector<uint32_t> answered_;
};

TEST_F(SynchronousShardTest, AppliesTheSumOnceForAll) {
  const auto shard = MakeShardOf(SynchronousJob(), kWorkers);
  const std::vector<float> before = Values(*shard);
  for (uint64_t step = 1; step <= 2; ++step) {
    answered_.clear();
    PushAll(*shard, step);
    EXPECT_THAT(answered_, ElementsAre(0, 1, 2));
    for (const v1::PushResponse& response : responses_) {
      EXPECT_TRUE(response.applied());
      EXPECT_EQ(response.step(), step);
      EXPECT_EQ(response.staleness(), 0u);
      const std::vector<float> after = ValuesOf<float>(response.variables());
      ASSERT_EQ(after.size(), before.size());
      for (size_t i = 0; i < after.size(); ++i) {
        EXPECT_FLOAT_EQ(after[i], before[i] - 3.5f * static_cast<float>(step));
      }
    }
  }
}

TEST_F(SynchronousShardTest, ClipsTheValuesOfTheSum) {
  const auto shard = MakeShardOf(SynchronousJob("clipvalue", 3), kWorkers);
  const std::vector<float> before = Values(*shard);
  PushAll(*shard, 1);
  const std::vector<float> after = Values(*shard);
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_FLOAT_EQ(after[i], before[i] - 1.5f);
  }
}

TEST_F(SynchronousShardTest, ClipsByNormsWhenTheyAreKnownOfAllShards) {
  const auto shard =
      MakeShardOf(SynchronousJob("global_clipnorm", 3.5), kWorkers);
  const std::vector<float> before = Values(*shard);
  PushAll(*shard, 1);
  EXPECT_THAT(Values(*shard), ElementsAreArray(before));
  v1::ApplyRequest request;
  request.set_ps_incarnation(kIncarnation);
  for (const v1::PushResponse& response : responses_) {
    EXPECT_EQ(response.variables_size(), 0);
    EXPECT_EQ(response.step(), 1u);
    // Kernels of 12 and 8, biases of 4 and 2, in the order of the model.
    EXPECT_THAT(response.squared_norms(),
                ElementsAre(49 * 12, 49 * 4, 49 * 8, 49 * 2));
  }
  request.set_step(1);
  // As if other shards had three times as much: the factor is 0.5 / 14.28.
  for (const double norm : responses_[0].squared_norms()) {
    request.add_squared_norms(4 * norm);
  }
  v1::ApplyResponse response;
  for (int repeat = 0; repeat < 3; ++repeat) {
    response.Clear();
    ASSERT_TRUE(Apply(*shard, request, response).ok());
    EXPECT_EQ(response.step(), 1u);
  }
  const double norm = std::sqrt(4 * 49 * 26);
  const std::vector<float> after = ValuesOf<float>(response.variables());
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_FLOAT_EQ(after[i],
                    before[i] - static_cast<float>(0.5 * 7 * 3.5 / norm));
  }
  // A repeat of the push tells the norms again.
  v1::PushResponse repeated;
  ASSERT_TRUE(Push(*shard, requests_[1], repeated).ok());
  EXPECT_EQ(repeated.squared_norms_size(), 4);
  EXPECT_EQ(repeated.variables_size(), 0);
  request.set_step(2);
  EXPECT_EQ(Apply(*shard, request, response).code(),
            absl::StatusCode::kFailedPrecondition);
  request.mutable_squared_norms()->RemoveLast();
  EXPECT_THAT(std::string(Apply(*shard, request, response).message()),
              HasSubstr("squared norms of 3 variables; the model has 4"));
}

// The second call of an accumulation, of which the workers know the norms: a
// checkpoint is of the time before it, so that it can come again.
TEST_F(SynchronousShardTest, CheckpointsBetweenNormsAndUpdateHaveNoneOfTheSum) {
  v1::Job job = SynchronousJob("global_clipnorm", 3.5);
  auto& config = *job.mutable_optimizer()->mutable_config()->mutable_fields();
  config["gradient_accumulation_steps"].set_number_value(2);
  std::vector<std::unique_ptr<Shard>> shards;
  shards.push_back(MakeShardOf(job, kWorkers));
  const std::vector<float> before = Values(*shards[0]);
  PushAll(*shards[0], 1);
  ApplySum(*shards[0], 1);
  EXPECT_THAT(Values(*shards[0]), ElementsAreArray(before));
  PushAll(*shards[0], 2);
  // Of the mean, 7.
  EXPECT_THAT(responses_[0].squared_norms(),
              ElementsAre(49 * 12, 49 * 4, 49 * 8, 49 * 2));
  const std::string folder = WriteCheckpoint(shards, job);
  ApplySum(*shards[0], 2);
  const std::vector<float> after = Values(*shards[0]);
  const auto change = static_cast<float>(0.5 * 3.5 / std::sqrt(26));
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_FLOAT_EQ(after[i], before[i] - change);
  }
  const auto restored = MakeShardOf(job, kWorkers, folder);
  EXPECT_THAT(Values(*restored), ElementsAreArray(before));
  PushAll(*restored, 3);
  ApplySum(*restored, 2);
  EXPECT_THAT(Values(*restored), ElementsAreArray(after));
}

TEST_F(SynchronousShardTest, TakesWholeGradientsAlone) {
  const auto shard = MakeShardOf(SynchronousJob(), kWorkers);
  v1::PushRequest request = PushRequest(*shard, 1, 1.0f);
  request.mutable_gradients(0)->mutable_dense()->mutable_values()->resize(8);
  v1::PushResponse response;
  EXPECT_THAT(
      std::string(Push(*shard, request, response).message()),
      HasSubstr("worker-3, chunk 0: gradients of block 0: a synchronous step "
                "takes the whole block"));
  request.clear_gradients();
  EXPECT_EQ(Push(*shard, request, response).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(ShardTest, ABoundedWorkerIsAnsweredWithWhatItWaitedFor) {
  v1::Job job = SynchronousJob();
  job.set_consistency(v1::CONSISTENCY_BOUNDED);
  const auto shard = MakeShardOf(job, 2);
  const std::vector<float> before = Values(*shard);
  v1::PushRequest requests[2];
  v1::PushResponse responses[2];
  std::vector<uint32_t> answered;
  for (const uint32_t rank : {0u, 1u}) {
    requests[rank] = PushRequest(*shard, 1, 1.0f, 8 + rank);
    requests[rank].set_pull(true);
    requests[rank].mutable_clock()->set_steps(1);
    v1::PullRequest pull;
    pull.set_ps_incarnation(kIncarnation);
    *pull.mutable_joins() = requests[rank].worker();
    v1::PullResponse pulled;
    ASSERT_TRUE(Pull(*shard, pull, pulled).ok());
    EXPECT_EQ(pulled.clock(), 0u);
  }
  for (const uint32_t rank : {0u, 1u}) {
    Push(*shard, requests[rank], responses[rank],
         [&answered, rank](const absl::Status& status) {
           EXPECT_TRUE(status.ok()) << status;
           answered.push_back(rank);
         });
    EXPECT_EQ(answered.size(), 2 * rank);
  }
  for (const v1::PushResponse& response : responses) {
    const std::vector<float> after = ValuesOf<float>(response.variables());
    ASSERT_EQ(after.size(), before.size());
    for (size_t i = 0; i < after.size(); ++i) {
      EXPECT_FLOAT_EQ(after[i], before[i] - 1.0f);
    }
  }
}

}  // namespace
}  // namespace paceline
