// The session and the aggregator under loss, delay, repetition, reordering,
// crashes and hangs. After each event the machine that it came to says whether
// its invariants hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/simulation/cluster.h"
#include "tests/simulation/seeds.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr absl::Duration kLimit = absl::Minutes(30);

// Fixed seeds. The sanitizers take about eight times as long, and find nothing
// more in a large cluster.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kSeeds = 2;
constexpr uint64_t kLargeSeeds = 0;
#else
constexpr uint64_t kSeeds = 8;
constexpr uint64_t kLargeSeeds = 1;
#endif

class SessionSimulationTest : public SeededTest {
 protected:
  // A cluster of which the test can run many.
  ClusterOptions SmallCluster() const {
    ClusterOptions options;
    options.seed = seed_;
    options.workers = 20;
    options.shards = 4;
    options.worker.sizes = {/*train=*/2005, /*validation=*/603, /*test=*/100};
    options.crash_interval = absl::Seconds(5);
    options.hang_interval = absl::Seconds(5);
    return options;
  }

  static void ExpectEachExampleCountsOnce(const ClusterOptions& options) {
    Cluster cluster(options);
    ASSERT_EQ(cluster.Run(kLimit), absl::OkStatus());
    ASSERT_TRUE(cluster.leader().ended());
    ASSERT_TRUE(cluster.leader().ended()->status.ok())
        << cluster.leader().ended()->status;

    const DataSizes& sizes = options.worker.sizes;
    const int64_t steps = sizes.train / options.worker.batch_size;
    cluster.ledger().CheckCoverage(options.epochs, sizes.train);
    EXPECT_THAT(cluster.ledger().violations(), IsEmpty());
    EXPECT_EQ(cluster.ledger().push_count(), options.epochs * steps);

    const auto& history = cluster.leader().session().history();
    ASSERT_EQ(history.size(), options.epochs);
    for (const EpochRecord& record : history) {
      EXPECT_EQ(record.examples, sizes.train);
      EXPECT_EQ(record.steps, steps);
      // Integers, so the means are exact if each position was counted once.
      ASSERT_EQ(record.logs.size(), 1);
      EXPECT_EQ(record.logs[0].second,
                cluster.ledger().MeanOfSums(record.epoch));
      if (cluster.ledger().unsummed_count() == 0) {
        EXPECT_EQ(record.logs[0].second,
                  static_cast<double>(sizes.train - 1) / 2);
      }
      ASSERT_EQ(record.validation_logs.size(), 1);
      EXPECT_EQ(record.validation_logs[0].second,
                static_cast<double>(sizes.validation - 1) / 2);
    }
    // One more at the end.
    EXPECT_EQ(cluster.leader().checkpoint_count(),
              options.epochs * steps / options.checkpoint_steps + 1);
    EXPECT_GT(cluster.leader().fence_count(), 0) << "nothing went wrong";
    if (options.worker.pushes_early) {
      EXPECT_GT(cluster.ledger().unsummed_count(), 0)
          << "no worker was lost between two pushes of a step";
    } else {
      EXPECT_EQ(cluster.ledger().unsummed_count(), 0);
    }
  }
};

TEST_P(SessionSimulationTest, EachExampleCountsOnce) {
  ExpectEachExampleCountsOnce(SmallCluster());
}

// Workers wait for each other, crash, hang and come back, and none waits
// forever.
TEST_P(SessionSimulationTest, EachExampleCountsOnceUnderBoundedStaleness) {
  ClusterOptions options = SmallCluster();
  options.aggregator.consistency = v1::CONSISTENCY_BOUNDED;
  options.aggregator.max_staleness = seed_ % 3;
  options.worker.joins = true;
  ExpectEachExampleCountsOnce(options);
}

// They finish their step and say goodbye, which may get lost; others crash and
// hang meanwhile.
TEST_P(SessionSimulationTest, EachExampleCountsOnceWhenWorkersLeave) {
  ClusterOptions options = SmallCluster();
  options.leave_interval = absl::Milliseconds(300);
  ExpectEachExampleCountsOnce(options);
  options.aggregator.consistency = v1::CONSISTENCY_BOUNDED;
  options.aggregator.max_staleness = 1;
  options.worker.joins = true;
  ExpectEachExampleCountsOnce(options);
}

// A worker that is lost between two chunks of a step has taken the step: its
// examples count, since some variables have their gradients. Its sums are those
// of the step before.
TEST_P(SessionSimulationTest, EachExampleCountsOnceWhereChunksLeaveEarly) {
  ClusterOptions options = SmallCluster();
  options.crash_interval = absl::Seconds(1);
  options.worker.pushes_early = true;
  if (seed_ % 2 == 0) {
    options.aggregator.consistency = v1::CONSISTENCY_BOUNDED;
    options.aggregator.max_staleness = seed_ % 3;
    options.worker.joins = true;
  }
  ExpectEachExampleCountsOnce(options);
}

// One that joins over and over, and takes no steps, holds no lease by which the
// leader could know it. The others go on, and none is taken for stuck.
TEST_P(SessionSimulationTest, AWorkerThatOnlyJoinsStallsNobody) {
  ClusterOptions options = SmallCluster();
  options.crash_interval = absl::InfiniteDuration();
  options.hang_interval = absl::InfiniteDuration();
  options.aggregator.consistency = v1::CONSISTENCY_BOUNDED;
  options.aggregator.max_staleness = seed_ % 3;
  options.worker.joins = true;
  options.joining_workers = 1;
  Cluster cluster(options);
  ASSERT_EQ(cluster.Run(kLimit), absl::OkStatus());
  EXPECT_TRUE(cluster.leader().ended()->status.ok())
      << cluster.leader().ended()->status;
  cluster.ledger().CheckCoverage(options.epochs, options.worker.sizes.train);
  EXPECT_THAT(cluster.ledger().violations(), IsEmpty());
  EXPECT_EQ(cluster.leader().fence_count(), 0) << "an innocent was blamed";
  EXPECT_GT(cluster.lapsed_count(), 0);
}

TEST_P(SessionSimulationTest, DeadPsEndsTheJobInTime) {
  ClusterOptions options = SmallCluster();
  options.crash_interval = absl::InfiniteDuration();
  options.hang_interval = absl::InfiniteDuration();
  Cluster cluster(options);
  ASSERT_EQ(cluster.RunToEpoch(1, kLimit), absl::OkStatus());
  cluster.shard(3).is_dead = true;
  const absl::Time died = cluster.simulator().now();
  ASSERT_EQ(cluster.Run(kLimit), absl::OkStatus());
  const Ended& ended = *cluster.leader().ended();
  EXPECT_EQ(ended.status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ended.task, (TaskId{TaskType::kPs, 3}));
  EXPECT_THAT(std::string(ended.status.message()),
              HasSubstr("ps-3 at host-ps-3:2222 sent no heartbeat"));
  EXPECT_LE(cluster.leader().ended_at() - died, absl::Seconds(15));
}

// Workers crash and hang meanwhile.
TEST_P(SessionSimulationTest, APsThatLeavesLeavesACheckpoint) {
  ClusterOptions options = SmallCluster();
  options.checkpoint_steps = 100'000;
  Cluster cluster(options);
  ASSERT_EQ(cluster.RunToEpoch(1, kLimit), absl::OkStatus());
  cluster.shard(3).is_asked_to_leave = true;
  ASSERT_EQ(cluster.Run(kLimit), absl::OkStatus());
  const Ended& ended = *cluster.leader().ended();
  EXPECT_EQ(ended.task, (TaskId{TaskType::kPs, 3}));
  EXPECT_THAT(std::string(ended.status.message()),
              HasSubstr("a signal asked it to leave"));
  EXPECT_EQ(cluster.leader().checkpoint_count(), 1);
  EXPECT_THAT(cluster.ledger().violations(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, SessionSimulationTest,
                         ::testing::ValuesIn(Seeds(kSeeds)), NameOf);

class LargeClusterSimulationTest : public SessionSimulationTest {};

TEST_P(LargeClusterSimulationTest, EachExampleCountsOnce) {
  if (kLargeSeeds == 0) GTEST_SKIP() << "too slow under a sanitizer";
  ClusterOptions options;
  options.seed = seed_;
  ExpectEachExampleCountsOnce(options);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LargeClusterSimulationTest,
                         ::testing::ValuesIn(Seeds(kLargeSeeds)), NameOf);

}  // namespace
}  // namespace paceline
