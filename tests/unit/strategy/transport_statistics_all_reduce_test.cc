// Statistics that replicas share, and what becomes of them when one fails.
#include "worker/strategy/transport_statistics_all_reduce.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/faulty_transport.h"
#include "worker/collective/memory_transport.h"

namespace paceline {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kReplicas = 3;
constexpr int kFaulty = 1;
constexpr absl::Duration kTimeout = absl::Milliseconds(200);

// The statuses of replicas that take two steps, of which the last has no
// example, and what they have of the first one.
struct Outcome {
  std::vector<absl::Status> statuses{kReplicas};
  std::vector<std::vector<double>> moments{kReplicas};
  std::vector<std::vector<double>> sums{kReplicas};
};

Outcome TakeSteps(Fault fault) {
  MemoryGroup group(kReplicas, kTimeout);
  Outcome outcome;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kReplicas; ++rank) {
    threads.emplace_back([&, rank] {
      TransportStatisticsAllReduce all_reduce({1});
      all_reduce.Join(
          std::make_unique<FaultyTransport>(group.MakeTransport(rank),
                                            rank == kFaulty ? fault : Fault()),
          [](const std::string&) {});
      // Of the forward, a count, a mean and Σ (x − mean)²; then of the
      // backward.
      std::vector<double> forward = {1.0 + 2 * rank, 1.0 + rank, 2.0};
      std::vector<double> backward = {3.0, 4.0 + rank};
      for (int step = 0; step < 2; ++step) {
        if (rank + 1 == kReplicas) {
          all_reduce.AddNothing().IgnoreError();
        } else {
          all_reduce.MergeMoments(absl::MakeSpan(forward));
          all_reduce.AddUp(absl::MakeSpan(backward));
        }
        if (step > 0) continue;
        outcome.moments[rank] = forward;
        outcome.sums[rank] = backward;
      }
      outcome.statuses[rank] = all_reduce.Take();
      if (!outcome.statuses[rank].ok())
        all_reduce.Abort(outcome.statuses[rank]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcome;
}

TEST(TransportStatisticsAllReduceTest, IsWholeWithAReplicaThatHasNothing) {
  const Outcome outcome = TakeSteps(Fault());
  for (const absl::Status& status : outcome.statuses) {
    EXPECT_TRUE(status.ok()) << status;
  }
  for (const int rank : {0, 1}) {
    // The mean of one 1 and three 2, and their squares around it.
    EXPECT_THAT(outcome.moments[rank], ElementsAre(4.0, 1.75, 4.75));
    EXPECT_THAT(outcome.sums[rank], ElementsAre(6.0, 9.0));
  }
}

TEST(TransportStatisticsAllReduceTest,
     EndsEverywhereWithAnErrorThatNamesWhoFailed) {
  for (const absl::Duration hang : {absl::ZeroDuration(), 5 * kTimeout}) {
    for (int exchange = 0; exchange < 8; ++exchange) {
      SCOPED_TRACE(exchange);
      const absl::Time start = absl::Now();
      const Outcome outcome = TakeSteps({exchange, hang});
      EXPECT_LT(absl::Now() - start, 20 * kTimeout);
      std::vector<std::string> errors;
      for (const absl::Status& status : outcome.statuses) {
        EXPECT_EQ(status.code(), hang == absl::ZeroDuration()
                                     ? absl::StatusCode::kUnavailable
                                     : absl::StatusCode::kDeadlineExceeded);
        errors.push_back(status.ToString());
      }
      EXPECT_THAT(errors, Each(HasSubstr("replica 1")));
    }
  }
}

TEST(TransportStatisticsAllReduceTest, AReplicaWithoutAGroupIsAlone) {
  TransportStatisticsAllReduce all_reduce({1});
  std::vector<double> values = {1.0, 2.0};
  all_reduce.AddUp(absl::MakeSpan(values));
  EXPECT_THAT(values, ElementsAre(1.0, 2.0));
  std::vector<double> moments = {3.0, 1.0, 2.0};
  all_reduce.MergeMoments(absl::MakeSpan(moments));
  EXPECT_THAT(moments, ElementsAre(3.0, 1.0, 2.0));
  EXPECT_TRUE(all_reduce.Take().ok());
}

}  // namespace
}  // namespace paceline
