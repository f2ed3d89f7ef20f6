// A worker of the parameter-server strategy, with two real shards behind real
// sockets.
#ifndef PACELINE_TESTS_UNIT_STRATEGY_PARAMETER_SERVER_FIXTURE_H_
#define PACELINE_TESTS_UNIT_STRATEGY_PARAMETER_SERVER_FIXTURE_H_

#include <glog/logging.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/job/job_model.h"
#include "common/job/job_reader.h"
#include "common/optimizer/make_optimizer.h"
#include "common/rpc/rpc_server.h"
#include "gtest/gtest.h"
#include "ps_server/ps_service.h"
#include "ps_server/shard.h"
#include "tests/test_identity.h"
#include "worker/device/reference/reference_device.h"
#include "worker/strategy/parameter_server.h"

namespace paceline {

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

// Steps that a server's first chunk has taken, once they are `steps`, or after
// some time.
inline uint64_t AwaitSteps(Server& server, uint64_t steps) {
  v1::PullRequest request;
  request.set_ps_incarnation(server.member.incarnation());
  v1::PullResponse response;
  std::vector<DenseBuffer> buffers;
  const absl::Time deadline = MonotonicNow() + absl::Seconds(10);
  const auto sizes = server.shard.BlockSizesFor(request);
  EXPECT_TRUE(sizes.ok()) << sizes.status();
  std::vector<std::vector<std::byte>> memory;
  for (const size_t size : *sizes) {
    buffers.push_back({absl::MakeSpan(memory.emplace_back(size))});
  }
  do {
    // Spinning would fill the thread sanitizer's history of this thread.
    absl::SleepFor(absl::Milliseconds(1));
    const absl::Status status =
        server.shard.Pull(request, response, absl::MakeSpan(buffers));
    EXPECT_TRUE(status.ok()) << status;
  } while (response.step() < steps && MonotonicNow() < deadline);
  return response.step();
}

// Each server has one chunk.
class ParameterServerFixture : public ::testing::Test {
 protected:
  static constexpr char kJob[] = R"(
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

  static std::string ClippedJob() {
    return absl::StrReplaceAll(
        kJob, {{"learning_rate: 0.5", "learning_rate: 0.5, clipnorm: 0.1"}});
  }
  static std::string NormalizedJob() {
    return absl::StrReplaceAll(kJob,
                               {{"    - Dense: {units: 2}",
                                 "    - BatchNormalization: {momentum: 0.3}\n"
                                 "    - Dense: {units: 2}"}});
  }

  virtual std::string JobText() const { return kJob; }
  virtual int worker_count() const { return 4; }
  virtual bool pipelines() const { return false; }
  virtual bool uses_shared_memory() const { return true; }

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
    for (int shard = 0; shard < 2; ++shard) {
      servers_.push_back(std::make_unique<Server>(100 + shard));
      v1::InitializeRequest request;
      *request.mutable_job() = *job;
      request.set_shard(shard);
      request.set_shard_count(2);
      request.set_workers(worker_count());
      v1::InitializeResponse response;
      ASSERT_TRUE(servers_[shard]->shard.Initialize(request, response).ok());
    }
    const auto optimizer = MakeOptimizer(job->optimizer());
    ASSERT_TRUE(optimizer.ok()) << optimizer.status();
    clipping_ = (*optimizer)->clipping;
    consistency_ = job->consistency();
    stream_ = *device_.CreateStream();
    state_ = MakeState();
    strategy_ = MakeStrategy(absl::Seconds(30));
  }

  std::unique_ptr<ModelState> MakeState() {
    ProgramSpec spec;
    spec.graph = &model_.graph;
    spec.bucket_layout = &plan_.layout();
    spec.outputs = {{.loss = model_.objectives[0].loss.get()}};
    return *device_.CreateState(spec);
  }

  // Of worker 0.
  std::unique_ptr<ParameterServerStrategy> MakeStrategy(
      absl::Duration timeout) {
    return MakeStrategy(0, timeout, *state_);
  }
  // Of the one process of that rank, which the servers admit.
  std::unique_ptr<ParameterServerStrategy> MakeStrategy(uint32_t rank,
                                                        absl::Duration timeout,
                                                        ModelState& state) {
    ParameterServerOptions options;
    options.worker.set_rank(rank);
    options.worker.set_incarnation(5 + rank);
    options.caller = TestCaller();
    v1::AdmitRequest admission;
    *admission.add_workers() = options.worker;
    for (const auto& server : servers_) {
      v1::AdmitResponse response;
      const absl::Status status = server->shard.Admit(admission, response);
      CHECK(status.ok()) << status;
      options.servers.push_back(server->member);
    }
    options.timeout = timeout;
    options.consistency = consistency_;
    options.clipping = clipping_;
    options.pipelines = pipelines();
    options.use_shared_memory = uses_shared_memory();
    options.on_waiting = [this, rank](const std::string& what) {
      if (rank == 0) waiting_ = what;
    };
    return std::make_unique<ParameterServerStrategy>(std::move(options), plan_,
                                                     state, *stream_);
  }

  // Another worker.
  struct Worker {
    std::unique_ptr<ModelState> state;
    std::unique_ptr<ParameterServerStrategy> strategy;
  };
  // One that has pulled the variables.
  Worker MakeWorker(uint32_t rank) {
    Worker worker;
    worker.state = MakeState();
    worker.strategy = MakeStrategy(rank, absl::Seconds(30), *worker.state);
    EXPECT_TRUE(worker.strategy->PullVariables().ok());
    return worker;
  }

  static absl::Span<float> FloatsOf(absl::Span<std::byte> bucket) {
    return {reinterpret_cast<float*>(bucket.data()),
            bucket.size() / sizeof(float)};
  }

  std::vector<float> Variables() {
    std::vector<float> all;
    for (size_t bucket = 0; bucket < plan_.layout().buckets().size();
         ++bucket) {
      const auto values =
          FloatsOf(state_->host_variables(static_cast<int>(bucket)));
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

  // Hands over the gradients of a step that has begun.
  void HandOver(ParameterServerStrategy& strategy) {
    for (size_t bucket = 0; bucket < plan_.layout().updated_buckets().size();
         ++bucket) {
      ASSERT_TRUE(strategy.GradientsReady(static_cast<int>(bucket)).ok());
      strategy.BucketFinal(static_cast<int>(bucket));
    }
  }
  // Gives worker 0 gradients that are `value` everywhere.
  void FillGradients(float value) {
    for (size_t bucket = 0; bucket < plan_.layout().updated_buckets().size();
         ++bucket) {
      const auto gradients =
          FloatsOf(state_->host_gradients(static_cast<int>(bucket)));
      std::fill(gradients.begin(), gradients.end(), value);
    }
  }
  // Begins a step of worker 0, and hands over such gradients.
  void HandOver(float value, bool ends_lease = false) {
    strategy_->BeginStep(v1::Progress(), ends_lease);
    FillGradients(value);
    HandOver(*strategy_);
  }

  JobModel model_;
  ShardPlan plan_;
  ReferenceDevice<float> device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<ModelState> state_;
  std::vector<std::unique_ptr<Server>> servers_;
  Clipping clipping_;
  v1::Consistency consistency_ = v1::CONSISTENCY_ASYNC;
  // What worker 0 waits for.
  std::string waiting_;
  std::unique_ptr<ParameterServerStrategy> strategy_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_STRATEGY_PARAMETER_SERVER_FIXTURE_H_
