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
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/cluster/blame.h"
#include "common/job/job_model.h"
#include "common/job/job_reader.h"
#include "common/optimizer/make_optimizer.h"
#include "common/rpc/rpc_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ps_server/ps_service.h"
#include "ps_server/shard.h"
#include "tests/test_identity.h"
#include "worker/device/reference/reference_device.h"

namespace paceline {
namespace {

using ::testing::AnyOf;
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

void Admit(uint32_t rank, uint64_t incarnation, Server& server) {
  v1::AdmitRequest request;
  v1::WorkerId& worker = *request.add_workers();
  worker.set_rank(rank);
  worker.set_incarnation(incarnation);
  v1::AdmitResponse response;
  const absl::Status status = server.shard.Admit(request, response);
  ASSERT_TRUE(status.ok()) << status;
}

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
    spec.outputs = {{.loss = model_.loss.get()}};
    stream_ = *device_.CreateStream();
    state_ = *device_.CreateState(spec);

    for (int shard = 0; shard < 2; ++shard) {
      servers_.push_back(std::make_unique<Server>(100 + shard));
      v1::InitializeRequest request;
      *request.mutable_job() = *job;
      request.set_shard(shard);
      request.set_shard_count(2);
      request.set_workers(4);
      v1::InitializeResponse response;
      ASSERT_TRUE(servers_[shard]->shard.Initialize(request, response).ok());
      Admit(/*rank=*/0, /*incarnation=*/5, *servers_[shard]);
    }
    const auto optimizer = MakeOptimizer(job->optimizer());
    ASSERT_TRUE(optimizer.ok()) << optimizer.status();
    clipping_ = (*optimizer)->clipping;
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
    options.clipping = clipping_;
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
    strategy_->BeginStep(v1::Progress(), false);
    for (size_t bucket = 0; bucket < plan_.updated_buckets().size(); ++bucket) {
      const auto bytes = state_->host_gradients(static_cast<int>(bucket));
      std::fill_n(reinterpret_cast<float*>(bytes.data()),
                  bytes.size() / sizeof(float), value);
      ASSERT_TRUE(strategy_->GradientsReady(static_cast<int>(bucket)).ok());
      strategy_->BucketFinal(static_cast<int>(bucket));
    }
  }

  JobModel model_;
  ShardPlan plan_;
  ReferenceDevice<float> device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<ModelState> state_;
  std::vector<std::unique_ptr<Server>> servers_;
  Clipping clipping_;
  std::string waiting_;
  std::unique_ptr<ParameterServerStrategy> strategy_;
};

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
  ASSERT_EQ(after.size(), static_cast<size_t>(plan_.element_count()));
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_NEAR(after[i], before[i] - 3 * 0.5f * 0.25f, 1e-6) << i;
  }
  EXPECT_EQ(waiting_, "");
}

// What a server knows of the worker that pushes.
v1::Progress ProgressAt(Server& server) {
  v1::FenceRequest request;
  request.mutable_worker()->set_incarnation(5);
  v1::FenceResponse response;
  const absl::Status status = server.shard.Fence(request, response);
  EXPECT_TRUE(status.ok()) << status;
  return response.progress();
}

// Steps that a server's first chunk has taken, once they are `steps`, or after
// some time.
uint64_t AwaitSteps(Server& server, uint64_t steps) {
  v1::PullRequest request;
  request.set_ps_incarnation(server.member.incarnation());
  v1::PullResponse response;
  std::vector<DensePlace> places;
  const absl::Time deadline = MonotonicNow() + absl::Seconds(10);
  const auto sizes = server.shard.BlockSizesFor(request);
  EXPECT_TRUE(sizes.ok()) << sizes.status();
  std::vector<std::vector<std::byte>> memory;
  for (const size_t size : *sizes) {
    places.push_back({absl::MakeSpan(memory.emplace_back(size))});
  }
  do {
    const absl::Status status =
        server.shard.Pull(request, response, absl::MakeSpan(places));
    EXPECT_TRUE(status.ok()) << status;
  } while (response.step() < steps && MonotonicNow() < deadline);
  return response.step();
}

v1::Progress PositionAfter(uint64_t examples) {
  v1::Progress position;
  position.mutable_lease()->set_lease_id(3);
  position.mutable_lease()->set_examples(examples);
  position.mutable_lease()->set_steps(1);
  return position;
}

// Each server has one chunk.
TEST_F(ParameterServerStrategyTest, ChunksLeaveBeforeTheStepEnds) {
  ASSERT_TRUE(strategy_->PullVariables().ok());
  v1::Progress progress = PositionAfter(4);
  strategy_->BeginStep(progress, false);
  const auto last_bucket = [&](int shard) {
    return plan_.chunks(shard)[0].blocks.back().bucket;
  };
  const int early = last_bucket(0) <= last_bucket(1) ? 0 : 1;
  for (size_t bucket = 0; bucket < plan_.updated_buckets().size(); ++bucket) {
    ASSERT_TRUE(strategy_->GradientsReady(static_cast<int>(bucket)).ok());
    strategy_->BucketFinal(static_cast<int>(bucket));
  }
  EXPECT_EQ(AwaitSteps(*servers_[early], 1), 1u);
  EXPECT_EQ(AwaitSteps(*servers_[1 - early], 0), 0u);
  progress.mutable_lease()->mutable_sums()->add_states(1.5);
  progress.mutable_lease()->mutable_sums()->add_states(4);
  ASSERT_TRUE(strategy_->EndStep(progress).ok());
  for (int shard = 0; shard < 2; ++shard) {
    const v1::Progress at_shard = ProgressAt(*servers_[shard]);
    EXPECT_EQ(at_shard.sequence(), 1u);
    EXPECT_EQ(at_shard.lease().examples(), 4u);
    EXPECT_EQ(at_shard.lease().sums().states_size(), shard == early ? 0 : 2);
  }
}

// Lost between the two chunks of its step.
TEST_F(ParameterServerStrategyTest, EndsCallsThatAreUnderWay) {
  ASSERT_TRUE(strategy_->PullVariables().ok());
  HandOver(0.25f);
  strategy_.reset();
}

class ClippedByNormTest : public ParameterServerStrategyTest {
 protected:
  std::string JobText() const override {
    return absl::StrReplaceAll(
        kJob, {{"learning_rate: 0.5", "learning_rate: 0.5, clipnorm: 0.1"}});
  }
};

// A norm needs all gradients.
TEST_F(ClippedByNormTest, ChunksLeaveAtTheEnd) {
  ASSERT_TRUE(strategy_->PullVariables().ok());
  HandOver(0.25f);
  absl::SleepFor(absl::Milliseconds(200));
  for (const auto& server : servers_) EXPECT_EQ(AwaitSteps(*server, 0), 0u);
  const auto number = strategy_->EndStep(v1::Progress());
  ASSERT_TRUE(number.ok()) << number.status();
  for (const auto& server : servers_) EXPECT_EQ(AwaitSteps(*server, 1), 1u);
}

class StatisticsTest : public ParameterServerStrategyTest {
 protected:
  static constexpr float kMomentum = 0.3f;

  std::string JobText() const override {
    return absl::StrReplaceAll(kJob,
                               {{"    - Dense: {units: 2}",
                                 "    - BatchNormalization: {momentum: 0.3}\n"
                                 "    - Dense: {units: 2}"}});
  }

  struct Worker {
    std::unique_ptr<ModelState> state;
    std::unique_ptr<ParameterServerStrategy> strategy;

    // Of moving means and variances.
    absl::Span<float> FloatsOf(absl::Span<std::byte> bucket) const {
      return {reinterpret_cast<float*>(bucket.data()),
              bucket.size() / sizeof(float)};
    }
    absl::Span<float> statistics() const {
      return FloatsOf(state->host_variables(0));
    }
    absl::Span<float> differences() const {
      return FloatsOf(state->host_gradients(0));
    }
  };

  // One that has pulled the variables.
  Worker MakeWorker(uint32_t rank) {
    ProgramSpec spec;
    spec.graph = &model_.graph;
    spec.plan = &plan_;
    spec.outputs = {{.loss = model_.loss.get()}};
    ParameterServerOptions options;
    options.worker.set_rank(rank);
    options.worker.set_incarnation(10 + rank);
    options.caller = TestCaller();
    for (const auto& server : servers_) {
      options.servers.push_back(server->member);
    }
    options.timeout = absl::Seconds(30);
    options.on_waiting = [](const std::string&) {};
    for (const auto& server : servers_) Admit(rank, 10 + rank, *server);
    Worker worker;
    worker.state = *device_.CreateState(spec);
    worker.strategy = std::make_unique<ParameterServerStrategy>(
        std::move(options), plan_, *worker.state, *stream_);
    EXPECT_TRUE(worker.strategy->PullVariables().ok());
    return worker;
  }
};

// Each starts from what it pulled three pushes ago, and its differences are
// large: added up they would swing further and further.
TEST_F(StatisticsTest, OfStaleWorkersStayWithinThoseOfTheBatches) {
  ASSERT_EQ(plan_.buckets()[0].update, VariableUpdate::kDifference);
  ASSERT_EQ(plan_.buckets()[0].count, 16);
  std::vector<Worker> workers;
  for (uint32_t rank = 0; rank < 4; ++rank) workers.push_back(MakeWorker(rank));
  // Means start with 0 and variances with 1.
  std::vector<float> expected(workers[0].statistics().begin(),
                              workers[0].statistics().end());
  for (int step = 0; step < 40; ++step) {
    const Worker& worker = workers[step % 4];
    const float batch = step % 3 == 0 ? 2.0f : 0.25f;
    for (size_t i = 0; i < expected.size(); ++i) {
      worker.differences()[i] =
          (1 - kMomentum) * (batch - worker.statistics()[i]);
      expected[i] = expected[i] * kMomentum + (1 - kMomentum) * batch;
    }
    worker.strategy->BeginStep(v1::Progress(), false);
    for (size_t b = 0; b < plan_.updated_buckets().size(); ++b) {
      worker.strategy->BucketFinal(static_cast<int>(b));
    }
    ASSERT_TRUE(worker.strategy->EndStep(v1::Progress()).ok());
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(worker.statistics()[i], expected[i], 1e-5)
          << "step " << step << ", element " << i;
    }
  }
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

}  // namespace
}  // namespace paceline
