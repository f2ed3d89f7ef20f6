// The parameter-server strategy against real shards behind real sockets.

#include "worker/strategy/parameter_server.h"

#include <glog/logging.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/clock.h"
#include "common/job/job_model.h"
#include "common/job/job_reader.h"
#include "common/rpc/rpc_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ps_server/ps_service.h"
#include "ps_server/shard.h"
#include "tests/test_identity.h"
#include "worker/device/reference/reference_device.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

constexpr char kJob[] = R"(
strategy: parameter_server
cluster: {ps: 2, worker: 1}
seed: 7
model:
  layers:
    - Input: {shape: [6]}
    - Dense: {units: 8}
    - Dense: {units: 2}
loss: mse
optimizer: {SGD: {learning_rate: 0.5}}
data: {train: {idx: {features: f, labels: l}}}
batch_size_per_replica: 4
)";

// One parameter server.
struct Server {
  explicit Server(uint64_t incarnation) : shard(incarnation), service(shard) {
    member.set_incarnation(incarnation);
    Start("127.0.0.1:0");
    member.set_address(absl::StrCat("127.0.0.1:", rpc->port()));
  }
  void Start(const std::string& address) {
    auto started = StartTestServer(address, service);
    CHECK(started.ok()) << started.status();
    rpc = *std::move(started);
  }

  Shard shard;
  PsService service;
  std::unique_ptr<RpcServer> rpc;
  v1::Member member;
};

class ParameterServerStrategyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    JobReaderOptions reader;
    reader.check_files = false;
    const auto job = ReadJob(JobText(), "job.yaml", {}, reader);
    ASSERT_TRUE(job.ok()) << job.status();
    auto model = MakeJobModel(*job);
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
    const auto plan = ShardPlan::Make(model_.graph.variables, 2,
                                      job->partitioner(), sizeof(float));
    ASSERT_TRUE(plan.ok()) << plan.status();
    plan_ = *plan;
    ProgramSpec spec;
    spec.graph = &model_.graph;
    spec.plan = &plan_;
    spec.loss = model_.loss.get();
    stream_ = *device_.CreateStream();
    state_ = *device_.CreateState(spec);

    for (int shard = 0; shard < 2; ++shard) {
      servers_.push_back(std::make_unique<Server>(100 + shard));
      v1::InitializeRequest request;
      *request.mutable_job() = *job;
      request.set_shard(shard);
      request.set_shard_count(2);
      request.set_workers(1);
      v1::InitializeResponse response;
      ASSERT_TRUE(servers_[shard]->shard.Initialize(request, response).ok());
      v1::AdmitRequest admit;
      admit.add_workers()->set_incarnation(5);
      v1::AdmitResponse admitted;
      ASSERT_TRUE(servers_[shard]->shard.Admit(admit, admitted).ok());
    }
    strategy_ = MakeStrategy(absl::Seconds(30));
  }

  virtual std::string JobText() const { return kJob; }

  std::unique_ptr<ParameterServerStrategy> MakeStrategy(
      absl::Duration timeout) {
    ParameterServerOptions options;
    options.worker.set_rank(0);
    options.worker.set_incarnation(5);
    options.caller = TestCaller();
    for (const auto& server : servers_) {
      options.servers.push_back(server->member);
    }
    options.timeout = timeout;
    options.on_waiting = [this](const std::string& what) { waiting_ = what; };
    return std::make_unique<ParameterServerStrategy>(std::move(options), plan_,
                                                     *state_, *stream_);
  }

  std::vector<float> Variables() {
    std::vector<float> all;
    for (size_t bucket = 0; bucket < plan_.buckets().size(); ++bucket) {
      const auto bytes = state_->host_variables(static_cast<int>(bucket));
      const float* values = reinterpret_cast<const float*>(bytes.data());
      all.insert(all.end(), values, values + bytes.size() / sizeof(float));
    }
    return all;
  }

  // Hands over gradients that are `value` everywhere.
  void HandOver(float value) {
    for (size_t bucket = 0; bucket < plan_.updated_buckets().size(); ++bucket) {
      const auto bytes = state_->host_gradients(static_cast<int>(bucket));
      std::fill_n(reinterpret_cast<float*>(bytes.data()),
                  bytes.size() / sizeof(float), value);
      ASSERT_TRUE(strategy_->GradientsReady(static_cast<int>(bucket)).ok());
    }
  }

  JobModel model_;
  ShardPlan plan_;
  ReferenceDevice<float> device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<ModelState> state_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::string waiting_;
  std::unique_ptr<ParameterServerStrategy> strategy_;
};

TEST_F(ParameterServerStrategyTest, PushesAllGradientsAndPullsAllVariables) {
  ASSERT_TRUE(strategy_->PullVariables().ok());
  const std::vector<float> before = Variables();
  for (int step = 1; step <= 3; ++step) {
    HandOver(0.25f);
    const auto number = strategy_->EndStep(v1::Progress(), false);
    ASSERT_TRUE(number.ok()) << number.status();
    EXPECT_EQ(*number, step);
  }
  const std::vector<float> after = Variables();
  ASSERT_EQ(after.size(), static_cast<size_t>(plan_.element_count()));
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_NEAR(after[i], before[i] - 3 * 0.5f * 0.25f, 1e-6) << i;
  }
  EXPECT_EQ(waiting_, "");
}

// The larger layer, so that one server has nothing else.
class FrozenLayerTest : public ParameterServerStrategyTest {
 protected:
  std::string JobText() const override {
    return absl::StrReplaceAll(kJob,
                               {{"units: 8", "units: 8, trainable: false"}});
  }
  // All values of frozen variables.
  void FillFrozen(std::byte value) {
    for (size_t b = plan_.updated_buckets().size(); b < plan_.buckets().size();
         ++b) {
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
    const auto number = strategy_->EndStep(v1::Progress(), false);
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
  ASSERT_TRUE(strategy_->EndStep(v1::Progress(), false).ok());
  const std::vector<float> before = Variables();
  const std::string address = servers_[1]->member.address();
  servers_[1]->rpc.reset();
  servers_[1]->Start(address);
  HandOver(0.25f);
  const auto number = strategy_->EndStep(v1::Progress(), false);
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
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("Pull to ps-1 at ", address)));
  EXPECT_THAT(waiting_, HasSubstr(address));
}

TEST_F(ParameterServerStrategyTest, AFencedWorkerIsRefused) {
  ASSERT_TRUE(strategy_->PullVariables().ok());
  v1::FenceRequest fence;
  fence.mutable_worker()->set_incarnation(5);
  v1::FenceResponse response;
  ASSERT_TRUE(servers_[0]->shard.Fence(fence, response).ok());
  HandOver(0.25f);
  EXPECT_EQ(strategy_->EndStep(v1::Progress(), false).status().code(),
            absl::StatusCode::kAborted);
}

// Two processes push as one: each would take the other's steps for its own.
TEST_F(ParameterServerStrategyTest, APushThatIsTakenForARepeatAtOnceIsAnError) {
  ASSERT_TRUE(strategy_->PullVariables().ok());
  const auto other = MakeStrategy(absl::Seconds(30));
  HandOver(0.25f);
  ASSERT_TRUE(other->EndStep(v1::Progress(), false).ok());
  HandOver(0.25f);
  const absl::Status status =
      strategy_->EndStep(v1::Progress(), false).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr(absl::StrCat("Push to ps-0 at ", servers_[0]->member.address(),
                             ": push 1 of chunk 0 was answered as one "
                             "that was applied before")));
}

}  // namespace
}  // namespace paceline
