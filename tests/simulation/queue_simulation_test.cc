// The job queue under loss, delay, repetition and reordering of messages, under
// deaths of the coordinator and of daemons, and under daemons that are cut off.
// After each event the queue says whether its invariants hold; the ledger says
// whether what really ran was right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>

#include "absl/time/time.h"
#include "tests/simulation/seeds.h"
#include "tests/simulation/service.h"

namespace paceline {
namespace {

using ::testing::IsEmpty;

constexpr absl::Duration kLimit = absl::Hours(48);

// The sanitizers find nothing more in a large service.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kSeeds = 2;
constexpr bool kRunsLarge = false;
#else
constexpr uint64_t kSeeds = 4;
constexpr bool kRunsLarge = true;
#endif

class QueueSimulationTest : public SeededTest {
 protected:
  ServiceOptions SmallService() const {
    ServiceOptions options;
    options.seed = seed_;
    options.coordinator.queue.version = "1";
    options.coordinator.queue.daemon_timeout = absl::Minutes(1);
    options.coordinator.queue.max_departures = 5;
    // No start takes so long.
    options.coordinator.queue.long_start = absl::Hours(1);
    options.coordinator.crash_chance = 0.001;
    return options;
  }

  void ExpectEachJobRunsOnce(const ServiceOptions& options) {
    Service service(options);
    ASSERT_EQ(service.Run(kLimit), absl::OkStatus());
    service.CheckOutcomes();
    EXPECT_THAT(service.ledger().violations(), IsEmpty());
    EXPECT_GT(service.coordinator_deaths(), 0) << "nothing went wrong";
    EXPECT_GT(service.daemon_deaths(), 0) << "nothing went wrong";
    forgotten_ = service.forgotten_daemons();
    EXPECT_GT(service.departed_jobs(), 0) << "no job departed all the time";
    EXPECT_GT(service.ledger().start_count(), 2 * options.jobs);
  }

  // Daemons that came back after the queue had forgotten them.
  int forgotten_ = 0;
};

TEST_P(QueueSimulationTest, EachJobRunsOnce) {
  ExpectEachJobRunsOnce(SmallService());
  EXPECT_GT(forgotten_, 0) << "no daemon left for good";
}

// Jobs wait for quotas, too.
TEST_P(QueueSimulationTest, EachJobRunsOnceUnderQuotas) {
  ServiceOptions options = SmallService();
  options.coordinator.queue.quotas["user-0"] = {
      {/*millicores=*/200'000, /*memory_bytes=*/int64_t{400} << 30,
       /*gpus=*/0, /*tasks=*/Quota::kAny},
      /*jobs=*/3};
  ExpectEachJobRunsOnce(options);
}

// The coordinator dies every few seconds.
TEST_P(QueueSimulationTest, EachJobRunsOnceThoughTheCoordinatorHardlyLives) {
  ServiceOptions options = SmallService();
  options.jobs = 50;
  options.departing = 0.3;
  options.coordinator.crash_chance = 0.02;
  options.longest_absence = absl::Seconds(5);
  ExpectEachJobRunsOnce(options);
}

INSTANTIATE_TEST_SUITE_P(Seeds, QueueSimulationTest,
                         ::testing::ValuesIn(Seeds(kSeeds)), NameOf);

class LargeServiceSimulationTest : public QueueSimulationTest {};

TEST_P(LargeServiceSimulationTest, EachJobRunsOnce) {
  if (!kRunsLarge) GTEST_SKIP() << "too slow under a sanitizer";
  ServiceOptions options = SmallService();
  options.daemons = 1'000;
  options.jobs = 2'000;
  options.submit_time = absl::Minutes(4);
  options.longest_job = absl::Minutes(2);
  options.large = 0.01;
  options.many_workers = 200;
  options.coordinator.crash_chance = 0.0001;
  options.coordinator.check_every = 10'000;
  ExpectEachJobRunsOnce(options);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LargeServiceSimulationTest,
                         ::testing::ValuesIn(Seeds(0)), NameOf);

}  // namespace
}  // namespace paceline
