// The parameter-server strategy against real shards behind real sockets. What
// leaves before the end of a step is in early_pushes_test.cc.

#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/clock.h"
#include "common/cluster/blame.h"
#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/strategy/parameter_server_fixture.h"

namespace paceline {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class ParameterServerStrategyTest : public ParameterServerFixture {};

TEST_F(ParameterServerStrategyTest, PushesAllGradientsAndPullsAllVariables) {
  ASSERT_TRUE(strategy_->PullVariables().ok());
  const std::vector<float> before = Variables();
  for (int step = 1; step <= 3; ++step) {
    HandOver(0.25f);
    const auto number = strategy_->EndStep(v1::Progress());
    ASSERT_TRUE(number.ok()) << number.status();
    EXPECT_EQ(*number, step);
  }
  const std::vector<float> after = Variables();
  ASSERT_EQ(after.size(), static_cast<size_t>(plan_.layout().element_count()));
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_NEAR(after[i], before[i] - 3 * 0.5f * 0.25f, 1e-6) << i;
  }
  EXPECT_EQ(waiting_, "");
}

class StatisticsTest : public ParameterServerFixture {
 protected:
  static constexpr float kMomentum = 0.3f;

  std::string JobText() const override { return NormalizedJob(); }

  // Of moving means and variances.
  static absl::Span<float> StatisticsOf(const Worker& worker) {
    return FloatsOf(worker.state->host_variables(0));
  }
  static absl::Span<float> DeltasOf(const Worker& worker) {
    return FloatsOf(worker.state->host_gradients(0));
  }
};

// Each starts from what it pulled three pushes ago, and its deltas are large:
// added up they would swing further and further.
TEST_F(StatisticsTest, OfStaleWorkersStayWithinThoseOfTheBatches) {
  ASSERT_EQ(plan_.layout().buckets()[0].update, VariableUpdate::kDelta);
  ASSERT_EQ(plan_.layout().buckets()[0].count, 16);
  std::vector<Worker> workers;
  for (uint32_t rank = 0; rank < 4; ++rank) workers.push_back(MakeWorker(rank));
  // Means start with 0 and variances with 1.
  std::vector<float> expected(StatisticsOf(workers[0]).begin(),
                              StatisticsOf(workers[0]).end());
  for (int step = 0; step < 40; ++step) {
    const Worker& worker = workers[step % 4];
    const float batch = step % 3 == 0 ? 2.0f : 0.25f;
    for (size_t i = 0; i < expected.size(); ++i) {
      DeltasOf(worker)[i] = (1 - kMomentum) * (batch - StatisticsOf(worker)[i]);
      expected[i] = expected[i] * kMomentum + (1 - kMomentum) * batch;
    }
    worker.strategy->BeginStep(v1::Progress(), false);
    HandOver(*worker.strategy);
    ASSERT_TRUE(worker.strategy->EndStep(v1::Progress()).ok());
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(StatisticsOf(worker)[i], expected[i], 1e-5)
          << "step " << step << ", element " << i;
    }
  }
}

// The larger layer, so that one server has nothing else.
class FrozenLayerTest : public ParameterServerFixture {
 protected:
  std::string JobText() const override {
    return absl::StrReplaceAll(kJob,
                               {{"units: 8", "units: 8, trainable: false"}});
  }
  // All values of frozen variables.
  void FillFrozen(std::byte value) {
    for (size_t b = plan_.layout().updated_buckets().size();
         b < plan_.layout().buckets().size(); ++b) {
      const auto bytes = state_->host_variables(static_cast<int>(b));
      std::fill(bytes.begin(), bytes.end(), value);
    }
  }
};

// Servers refuse gradients of it; what would come again would be seen.
TEST_F(FrozenLayerTest, ComesOnceAndTravelsNoMore) {
  FillFrozen(std::byte{0x55});
  const std::vector<float> zeros = Variables();
  ASSERT_TRUE(strategy_->PullVariables().ok());
  std::vector<float> before = Variables();
  EXPECT_EQ(before.size(), 8 * 6 + 8 + 2 * 8 + 2u);
  size_t changed = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i] != zeros[i]) ++changed;
  }
  // But for the bias of the other layer, which is 0 at the start.
  EXPECT_EQ(changed, before.size() - 2);

  FillFrozen(std::byte{0x55});
  before = Variables();
  for (int step = 1; step <= 2; ++step) {
    HandOver(0.25f);
    const auto number = strategy_->EndStep(v1::Progress());
    ASSERT_TRUE(number.ok()) << number.status();
    EXPECT_EQ(*number, step);
  }
  ASSERT_TRUE(strategy_->PullVariables().ok());
  const std::vector<float> after = Variables();
  constexpr size_t kTrained = 2 * 8 + 2;
  for (size_t i = 0; i < after.size(); ++i) {
    const float moved = i < kTrained ? 2 * 0.5f * 0.25f : 0;
    EXPECT_NEAR(after[i], before[i] - moved, 1e-6) << i;
  }
}

TEST_F(ParameterServerStrategyTest, AStepOutlivesTheRestartOfAConnection) {
  ASSERT_TRUE(strategy_->PullVariables().ok());
  HandOver(0.25f);
  ASSERT_TRUE(strategy_->EndStep(v1::Progress()).ok());
  const std::vector<float> before = Variables();
  const std::string address = servers_[1]->member.address();
  servers_[1]->rpc.reset();
  servers_[1]->Start(address);
  HandOver(0.25f);
  const auto number = strategy_->EndStep(v1::Progress());
  ASSERT_TRUE(number.ok()) << number.status();
  EXPECT_EQ(*number, 2);
  EXPECT_NEAR(Variables()[0], before[0] - 0.5f * 0.25f, 1e-6);
}

TEST_F(ParameterServerStrategyTest, AServerThatIsGoneIsNamed) {
  strategy_ = MakeStrategy(absl::Milliseconds(500));
  const std::string address = servers_[1]->member.address();
  servers_[1]->rpc.reset();
  const absl::Time start = MonotonicNow();
  const absl::Status status = strategy_->PullVariables();
  EXPECT_LT(MonotonicNow() - start, absl::Seconds(30));
  // By its own deadline, or by that of its last attempt.
  EXPECT_THAT(status.code(), AnyOf(absl::StatusCode::kDeadlineExceeded,
                                   absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("Pull to ps-1 at ", address)));
  EXPECT_EQ(BlameOf(status), (Blame{{TaskType::kPs, 1}, address, "Pull"}));
  EXPECT_THAT(waiting_, HasSubstr(address));
}

TEST_F(ParameterServerStrategyTest, AFencedWorkerIsRefused) {
  ASSERT_TRUE(strategy_->PullVariables().ok());
  v1::FenceRequest fence;
  fence.mutable_worker()->set_incarnation(5);
  v1::FenceResponse response;
  ASSERT_TRUE(servers_[0]->shard.Fence(fence, response).ok());
  HandOver(0.25f);
  EXPECT_EQ(strategy_->EndStep(v1::Progress()).status().code(),
            absl::StatusCode::kAborted);
}

// Two processes push as one: each would take the other's steps for its own.
TEST_F(ParameterServerStrategyTest, APushThatIsTakenForARepeatAtOnceIsAnError) {
  ASSERT_TRUE(strategy_->PullVariables().ok());
  const auto other = MakeStrategy(absl::Seconds(30));
  other->BeginStep(v1::Progress(), false);
  const auto number = other->EndStep(v1::Progress());
  ASSERT_TRUE(number.ok()) << number.status();
  HandOver(0.25f);
  const absl::Status status = strategy_->EndStep(v1::Progress()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr(absl::StrCat("Push to ps-0 at ", servers_[0]->member.address(),
                             ": push 1 of chunk 0 was answered as one "
                             "that was applied before")));
  EXPECT_EQ(BlameOf(status),
            (Blame{{TaskType::kPs, 0}, servers_[0]->member.address(), "Push"}));
}

// Answers each push with the same message, without variables.
class FixedAnswer : public RpcService {
 public:
  explicit FixedAnswer(const v1::PushResponse& answer)
      : RpcService("paceline.v1.ParameterServerService") {
    AddMessages<v1::PushRequest, v1::PushResponse>(
        "Push", /*max_request_bytes=*/1 << 20,
        [answer](const auto&, auto& response, const Done& done) {
          response = answer;
          done(absl::OkStatus());
        });
  }
};

class LyingServerTest : public ParameterServerFixture {
 protected:
  bool uses_shared_memory() const override { return false; }

  absl::Status StepAnsweredWith(const v1::PushResponse& answer) {
    FixedAnswer service(answer);
    Server& server = *servers_[1];
    server.rpc.reset();
    auto started = StartTestServer(server.member.address(), service);
    CHECK(started.ok()) << started.status();
    server.rpc = *std::move(started);
    HandOver(0.25f);
    const absl::Status status = strategy_->EndStep(v1::Progress()).status();
    server.rpc.reset();
    return status;
  }
};

TEST_F(LyingServerTest, AStepThatCannotBeIsRefused) {
  v1::PushResponse answer;
  answer.set_applied(true);
  const absl::Status status = StepAnsweredWith(answer);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("answered with step 0, expected 1 to"));
  EXPECT_EQ(BlameOf(status),
            (Blame{{TaskType::kPs, 1}, servers_[1]->member.address(), "Push"}));
}

TEST_F(LyingServerTest, NormsThatNobodyNeedsAreRefused) {
  v1::PushResponse answer;
  answer.set_applied(true);
  answer.set_step(1);
  answer.add_squared_norms(1);
  const absl::Status status = StepAnsweredWith(answer);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("sent 1 squared norms, expected 0"));
}

// With more chunks than a connection has calls.
class BoundedTest : public ParameterServerFixture {
 protected:
  std::string JobText() const override {
    return absl::StrCat(
        absl::StrReplaceAll(kJob, {{"units: 8", "units: 12000"}}),
        "consistency: bounded\nmax_staleness: 1\n"
        "partitioner: {chunk_bytes: 1024}\n");
  }
  int worker_count() const override { return 3; }
  bool uses_shared_memory() const override { return false; }
};

// Servers hold the calls of those that are ahead, in each of their leases.
TEST_F(BoundedTest, WorkersAtDifferentSpeedsDoNotWaitForEachOtherInACircle) {
  ASSERT_GT(plan_.chunks(1).size(),
            static_cast<size_t>(limits::kMaxCallsPerConnection));
  constexpr int kLeases = 3;
  constexpr int kSteps = 4;
  std::vector<Worker> workers;
  for (uint32_t rank = 0; rank < 3; ++rank) workers.push_back(MakeWorker(rank));
  std::vector<std::thread> threads;
  for (int w = 0; w < 3; ++w) {
    threads.emplace_back([&, w] {
      for (int step = 0; step < kLeases * kSteps; ++step) {
        ParameterServerStrategy& strategy = *workers[w].strategy;
        if (step % kSteps == 0) {
          ASSERT_TRUE(strategy.BeginLease(std::nullopt).ok());
        }
        strategy.BeginStep(v1::Progress(), step % kSteps == kSteps - 1);
        HandOver(strategy);
        absl::SleepFor(absl::Milliseconds(5 * w));
        const auto number = strategy.EndStep(v1::Progress());
        ASSERT_TRUE(number.ok()) << number.status();
      }
    });
  }
  const absl::Time start = MonotonicNow();
  for (std::thread& thread : threads) thread.join();
  // Sooner than a worker lapses for which others wait.
  EXPECT_LT(MonotonicNow() - start, limits::kStallTimeout / 2);
  for (const auto& server : servers_) {
    EXPECT_EQ(AwaitSteps(*server, 0), 3u * kLeases * kSteps);
  }
}

}  // namespace
}  // namespace paceline
