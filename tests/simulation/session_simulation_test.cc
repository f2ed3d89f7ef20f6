// The session and the aggregator under loss, delay, repetition, reordering,
// crashes and hangs.
//
// A failure names its seed; PACELINE_SIMULATION_SEED=<seed> runs that one
// alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "tests/simulation/cluster.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kFirstSeed = 1;
constexpr uint64_t kSeeds = 8;
constexpr absl::Duration kLimit = absl::Minutes(30);

std::vector<uint64_t> Seeds() {
  uint64_t chosen = 0;
  const char* text = std::getenv("PACELINE_SIMULATION_SEED");
  if (text != nullptr && absl::SimpleAtoi(text, &chosen)) return {chosen};
  std::vector<uint64_t> seeds;
  for (uint64_t i = 0; i < kSeeds; ++i) seeds.push_back(kFirstSeed + i);
  return seeds;
}

class SessionSimulationTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(SessionSimulationTest, EachExampleCountsOnce) {
  ClusterOptions options;
  options.seed = GetParam();
  Cluster cluster(options);
  ASSERT_TRUE(cluster.Run(kLimit)) << "the job did not end";
  ASSERT_TRUE(cluster.leader().ended());
  EXPECT_TRUE(cluster.leader().ended()->status.ok())
      << cluster.leader().ended()->status;

  const DataSizes& sizes = options.worker.sizes;
  cluster.ledger().CheckCoverage(options.epochs, sizes.train);
  EXPECT_THAT(cluster.ledger().violations(), IsEmpty());

  const auto& history = cluster.leader().session().history();
  ASSERT_EQ(history.size(), options.epochs);
  for (const EpochRecord& record : history) {
    EXPECT_EQ(record.examples, sizes.train);
    EXPECT_EQ(record.steps, sizes.train / options.worker.batch_size);
    // Integers, so the mean is exact if each position was counted once.
    ASSERT_EQ(record.validation_logs.size(), 1);
    EXPECT_EQ(record.validation_logs[0].second,
              static_cast<double>(sizes.validation - 1) / 2);
  }
  EXPECT_EQ(cluster.ledger().push_count(),
            options.epochs * sizes.train / options.worker.batch_size);
  EXPECT_EQ(cluster.leader().checkpoint_count(), 5);
  EXPECT_GT(cluster.leader().fence_count(), 5) << "nothing went wrong";
}

TEST_P(SessionSimulationTest, DeadPsEndsTheJobInTime) {
  ClusterOptions options;
  options.seed = GetParam();
  options.workers = 20;
  options.crash_interval = absl::InfiniteDuration();
  options.hang_interval = absl::InfiniteDuration();
  Cluster cluster(options);
  ASSERT_TRUE(cluster.RunToEpoch(1, kLimit));
  cluster.shard(3).is_dead = true;
  const absl::Time died = cluster.simulator().now();
  ASSERT_TRUE(cluster.Run(kLimit));
  const Ended& ended = *cluster.leader().ended();
  EXPECT_EQ(ended.status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ended.task, (TaskId{TaskType::kPs, 3}));
  EXPECT_THAT(std::string(ended.status.message()),
              HasSubstr("ps-3 at host-ps-3:2222 sent no heartbeat"));
  EXPECT_LE(cluster.leader().ended_at() - died, absl::Seconds(15));
}

INSTANTIATE_TEST_SUITE_P(Seeds, SessionSimulationTest,
                         ::testing::ValuesIn(Seeds()),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace paceline
