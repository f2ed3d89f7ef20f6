// Every synchronous strategy does what a single process does with the same
// global batch, and does it again to the bit.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/tensor_visits.h"
#include "common/config/yaml_reader.h"
#include "common/job/job_reader.h"
#include "common/limits.h"
#include "common/model/layers/batch_normalization.h"
#include "common/optimizer/optimizer.h"
#include "common/rpc/rpc_server.h"
#include "glog/logging.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ps_server/ps_service.h"
#include "ps_server/shard.h"
#include "tests/conformance/devices.h"
#include "tests/conformance/model_under_test.h"
#include "worker/collective/memory_transport.h"
#include "worker/data/batch_pipeline.h"
#include "worker/program_cache.h"
#include "worker/strategy/all_reduce.h"
#include "worker/strategy/central_storage.h"
#include "worker/strategy/local_variables.h"
#include "worker/strategy/parameter_server.h"
#include "worker/strategy/transport_sum.h"
#include "worker/training_step.h"

namespace paceline {
namespace {

constexpr int64_t kSteps = 50;
constexpr int64_t kExamples = 100;
// The last step of an epoch has 4 examples: fewer than some have replicas.
constexpr int64_t kGlobalBatch = 12;
constexpr absl::Duration kTimeout = absl::Seconds(60);

Value Yaml(const std::string& text) {
  return *ReadYaml(text, "model", limits::kMaxJobBytes);
}

// The last variables of a job of kSteps steps, as doubles.
using Variables = std::vector<double>;

enum class StrategyKind {
  kAllReduce,
  kCentralStorage,
  kParameterServer,
  // Without shared memory.
  kRemoteParameterServer
};

bool IsServed(StrategyKind kind) {
  return kind == StrategyKind::kParameterServer ||
         kind == StrategyKind::kRemoteParameterServer;
}

constexpr int kServers = 2;

// The same model for replicas that hold its variables and for servers that do.
struct Models {
  explicit Models(const std::string& layers)
      : layers(layers),
        local({Yaml(layers), Yaml(kLoss)}),
        served({Yaml(layers), Yaml(kLoss)}, /*partitioner=*/{}, kServers) {}

  static constexpr char kLoss[] =
      "{SparseCategoricalCrossentropy: {from_logits: true}}";
  std::string layers;
  ModelUnderTest local;
  ModelUnderTest served;
};

struct Job {
  const Models& models;
  // As a job has it.
  std::string optimizer;
  const DeviceUnderTest& device;
};

v1::Job ReadServersJob(const std::string& layers,
                       const std::string& optimizer) {
  JobReaderOptions reader;
  reader.check_files = false;
  const auto read = ReadJob(
      absl::StrCat("strategy: parameter_server\nconsistency: sync\nseed: 7\n"
                   "cluster: {ps: ",
                   kServers, "}\nmodel: {layers: ", layers,
                   "}\nloss: ", Models::kLoss, "\noptimizer: ", optimizer,
                   "\ndata: {train: {idx: {features: f, labels: l}}}\n"
                   "global_batch_size: 12\n"),
      "job.yaml", {}, reader);
  CHECK(read.ok()) << read.status();
  return *read;
}

// Parameter servers on real sockets.
class Servers {
 public:
  Servers(const Job& job, int workers) {
    const bool is_double = absl::StrContains(job.device.name, "float64");
    for (int index = 0; index < kServers; ++index) {
      Server& server = *servers_.emplace_back(std::make_unique<Server>(
          is_double ? DataType::kFloat64 : DataType::kFloat32));
      v1::InitializeRequest request;
      *request.mutable_job() = ReadServersJob(job.models.layers, job.optimizer);
      request.set_shard(index);
      request.set_shard_count(kServers);
      request.set_workers(workers);
      v1::InitializeResponse response;
      const absl::Status status = server.shard.Initialize(request, response);
      CHECK(status.ok()) << status;
      server.rpc = *RpcServer::Start("127.0.0.1:0", {&server.service});
    }
  }

  std::vector<v1::Member> members() const {
    std::vector<v1::Member> members;
    for (const auto& server : servers_) {
      v1::Member& member = members.emplace_back();
      member.set_incarnation(kIncarnation);
      member.set_address(absl::StrCat("127.0.0.1:", server->rpc->port()));
    }
    return members;
  }

 private:
  static constexpr uint64_t kIncarnation = 9;
  struct Server {
    explicit Server(DataType type) : shard(kIncarnation, type) {}
    Shard shard;
    PsService service{shard};
    std::unique_ptr<RpcServer> rpc;
  };
  std::vector<std::unique_ptr<Server>> servers_;
};

// One replica with all that is its own.
class Replica {
 public:
  // `statistics` joins the group in which replicas share theirs.
  Replica(const Job& job, const ModelUnderTest& model,
          std::unique_ptr<Transport> transport,
          std::unique_ptr<Transport> statistics)
      : model_(model),
        optimizer_(*MakeOptimizer(
            ReadServersJob("[Input: {shape: [1]}, Dense: {units: 5}]",
                           job.optimizer)
                .optimizer())),
        device_(job.device.make()),
        stream_(device_->CreateStream()),
        state_(*device_->CreateState(model.Spec(Mode::kTrain, 1))),
        statistics_(SynchronizedChannels(model.graph())),
        programs_(Spec(), *device_, *state_),
        transport_(std::move(transport)) {
    statistics_.Join(std::move(statistics), [](const std::string&) {});
    const Examples examples = model.SomeExamples(kExamples);
    if (state_->type() == DataType::kFloat64) {
      Store<double>(examples.features);
    } else {
      Store<float>(examples.features);
    }
    for (const double label : examples.labels) {
      labels_.push_back(static_cast<int32_t>(label));
    }
    slice_.rank = transport_->rank();
    slice_.sharers = transport_->world_size();
  }

  // Before any replica trains. `central` is that of rank 0.
  void MakeStrategy(StrategyKind kind, Replica& central,
                    const std::vector<v1::Member>& servers) {
    const auto on_waiting = [](const std::string&) {};
    switch (kind) {
      case StrategyKind::kAllReduce:
        MakeVariables();
        strategy_ = std::make_unique<AllReduceStrategy>(
            AllReduceOptions{.clipping = optimizer_->clipping,
                             .on_waiting = on_waiting},
            *transport_, model_.plan(), *variables_, *state_, *stream_);
        break;
      case StrategyKind::kCentralStorage:
        if (this == &central) MakeVariables();
        strategy_ = std::make_unique<CentralStorageStrategy>(
            on_waiting, optimizer_->clipping, *transport_, model_.plan(),
            *central.variables_, *state_, *stream_);
        break;
      case StrategyKind::kParameterServer:
      case StrategyKind::kRemoteParameterServer: {
        ParameterServerOptions options;
        options.worker.set_rank(transport_->rank());
        options.worker.set_incarnation(100 + transport_->rank());
        options.servers = servers;
        options.timeout = kTimeout;
        options.consistency = v1::CONSISTENCY_SYNC;
        options.clipping = optimizer_->clipping;
        options.use_shared_memory = kind == StrategyKind::kParameterServer;
        options.on_waiting = on_waiting;
        strategy_ = std::make_unique<ParameterServerStrategy>(
            std::move(options), model_.plan(), *state_, *stream_);
      }
    }
  }

  absl::Status Train() {
    RETURN_IF_ERROR(strategy_->PullVariables());
    int64_t step = 0;
    for (int64_t epoch = 0; step < kSteps; ++epoch) {
      for (int64_t at = 0; at < kExamples && step < kSteps;
           at += kGlobalBatch, ++step) {
        RETURN_IF_ERROR(
            Step(epoch, at, std::min(kGlobalBatch, kExamples - at)));
        ASSIGN_OR_RETURN(const int64_t number,
                         strategy_->EndStep(v1::Progress(), false));
        EXPECT_EQ(number, step + 1);
      }
    }
    return absl::OkStatus();
  }

  // What it computes with, in the order of the model whatever the plan.
  Variables Result() {
    std::vector<Part> parts(model_.plan().parts().begin(),
                            model_.plan().parts().end());
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
      return std::tie(a.variable, a.begin) < std::tie(b.variable, b.begin);
    });
    Variables result;
    for (const Part& part : parts) {
      if (state_->type() == DataType::kFloat64) {
        Append<double>(part, result);
      } else {
        Append<float>(part, result);
      }
    }
    return result;
  }

 private:
  ProgramSpec Spec() {
    ProgramSpec spec = model_.Spec(Mode::kTrain, 1);
    spec.replica_sum = &statistics_;
    return spec;
  }

  void MakeVariables() {
    variables_.emplace(model_.plan(), *optimizer_, *state_);
    FillFromSeed(/*seed=*/7, model_.graph().variables, *variables_);
  }

  template <typename T>
  void Append(const Part& part, Variables& result) {
    const auto* values =
        reinterpret_cast<const T*>(state_->host_variables(part.bucket).data());
    values += part.bucket_offset;
    result.insert(result.end(), values, values + part.count);
  }

  template <typename T>
  void Store(const std::vector<double>& numbers) {
    features_.resize(numbers.size() * sizeof(T));
    auto* values = reinterpret_cast<T*>(features_.data());
    for (size_t i = 0; i < numbers.size(); ++i) {
      values[i] = static_cast<T>(numbers[i]);
    }
  }

  absl::Status Step(int64_t epoch, int64_t begin, int64_t count) {
    Batch batch;
    batch.count = slice_.SliceSize(count);
    if (batch.count == 0) return TrainOnNothing();
    batch.epoch = epoch;
    batch.first_example = begin + slice_.SliceBegin(count);
    batch.loss_divisor = static_cast<double>(count);
    batch.regularization_scale =
        static_cast<double>(batch.count) / batch.loss_divisor;
    const size_t example_bytes = features_.size() / kExamples;
    batch.features = {state_->type(),
                      &features_[batch.first_example * example_bytes]};
    batch.labels = {DataType::kInt32, &labels_[batch.first_example]};
    ASSIGN_OR_RETURN(Program * program,
                     programs_.Get(Mode::kTrain, batch.count));
    RETURN_IF_ERROR(program->SetBatch(batch, *stream_));
    return RunSections(*program, *stream_, *strategy_, [] {});
  }

  absl::Status TrainOnNothing() {
    RETURN_IF_ERROR(statistics_.AddNothing());
    const int buckets = static_cast<int>(model_.plan().buckets().size());
    for (int bucket = 0; bucket < buckets; ++bucket) {
      const auto gradients = state_->host_gradients(bucket);
      std::memset(gradients.data(), 0, gradients.size());
      RETURN_IF_ERROR(strategy_->GradientsReady(bucket));
    }
    return absl::OkStatus();
  }

  const ModelUnderTest& model_;
  const std::unique_ptr<const Optimizer> optimizer_;
  const std::unique_ptr<Device> device_;
  const std::unique_ptr<Stream> stream_;
  const std::unique_ptr<ModelState> state_;
  TransportSum statistics_;
  ProgramCache programs_;
  std::optional<LocalVariables> variables_;
  const std::unique_ptr<Transport> transport_;
  std::unique_ptr<Strategy> strategy_;
  PhaseData slice_;
  std::vector<std::byte> features_;
  std::vector<int32_t> labels_;
};

// The variables of each replica at the end.
std::vector<Variables> TrainReplicas(const Job& job, StrategyKind kind,
                                     int count) {
  MemoryGroup group(count, kTimeout);
  MemoryGroup statistics(count, kTimeout);
  const bool is_served = IsServed(kind);
  std::optional<Servers> servers;
  if (is_served) servers.emplace(job, count);
  const ModelUnderTest& model =
      is_served ? job.models.served : job.models.local;
  std::vector<std::unique_ptr<Replica>> replicas;
  for (int rank = 0; rank < count; ++rank) {
    replicas.push_back(std::make_unique<Replica>(
        job, model, group.MakeTransport(rank), statistics.MakeTransport(rank)));
    replicas[rank]->MakeStrategy(
        kind, *replicas.front(),
        is_served ? servers->members() : std::vector<v1::Member>());
  }
  std::vector<std::thread> threads;
  for (const auto& replica : replicas) {
    threads.emplace_back([&replica] {
      const absl::Status status = replica->Train();
      EXPECT_TRUE(status.ok()) << status;
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<Variables> results;
  for (const auto& replica : replicas) results.push_back(replica->Result());
  return results;
}

double RelativeDistance(const Variables& a, const Variables& b) {
  double distance = 0;
  double norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    distance += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(distance / norm);
}

class StrategiesTest
    : public ::testing::TestWithParam<std::tuple<StrategyKind, int>> {
 protected:
  StrategiesTest()
      : models_(
            "[Input: {shape: [6, 6, 1]},"
            " Conv2D: {filters: 4, kernel_size: 3, activation: relu,"
            " kernel_regularizer: {L2: {l2: 0.01}}}, Flatten: {},"
            " Dropout: {rate: 0.3},"
            " Dense: {units: 8, activation: tanh,"
            " kernel_regularizer: {L2: {l2: 0.02}}},"
            " Dense: {units: 5}]") {}

  static const DeviceUnderTest& DeviceNamed(const std::string& name) {
    const auto& devices = DevicesUnderTest();
    return *std::find_if(
        devices.begin(), devices.end(),
        [&](const DeviceUnderTest& each) { return each.name == name; });
  }

  // How far replicas end from a single process.
  static void ExpectNear(const Models& models, const char* device,
                         const char* optimizer, double tolerance) {
    const Job job = {models, optimizer, DeviceNamed(device)};
    const auto [kind, count] = GetParam();
    const Variables alone =
        TrainReplicas(job, StrategyKind::kAllReduce, 1).front();
    const std::vector<Variables> replicas = TrainReplicas(job, kind, count);
    EXPECT_LE(RelativeDistance(replicas.front(), alone), tolerance);
    for (const Variables& each : replicas) {
      EXPECT_EQ(each, replicas.front()) << "replicas differ";
    }
    EXPECT_EQ(TrainReplicas(job, kind, count).front(), replicas.front())
        << "a repeat differs";
  }

  const Models models_;
};

TEST_P(StrategiesTest, SgdEndsWhereASingleProcessDoes) {
  ExpectNear(models_, "cpu", "SGD", 1e-5);
}

TEST_P(StrategiesTest, AdamInFloat64EndsWhereASingleProcessDoes) {
  ExpectNear(models_, "reference_float64", "Adam", 1e-9);
}

class ClippedStrategiesTest : public StrategiesTest {};

// A bound that each step reaches.
TEST_P(ClippedStrategiesTest, ClippedByNormEndsWhereASingleProcessDoes) {
  ExpectNear(models_, "reference_float64", "{Adam: {clipnorm: 0.1}}", 1e-9);
}

TEST_P(ClippedStrategiesTest,
       ClippedByTheGlobalNormEndsWhereASingleProcessDoes) {
  ExpectNear(models_, "reference_float64",
             "{SGD: {momentum: 0.5, global_clipnorm: 0.2}}", 1e-9);
}

TEST_P(ClippedStrategiesTest, ClippedByValueEndsWhereASingleProcessDoes) {
  ExpectNear(models_, "reference_float64", "{SGD: {clipvalue: 0.01}}", 1e-9);
}

// A kernel that fills a bucket becomes final before its bias, which belongs to
// the bucket before; a replica without examples has no such order.
TEST_P(StrategiesTest, BucketsMeetInTheSameOrder) {
  const Models models(
      "[Input: {shape: [1100]}, Dense: {units: 1000}, Dense: {units: 5}]");
  ASSERT_EQ(models.local.plan().buckets().size(), 2u);
  ExpectNear(models, "cpu", "SGD", 1e-5);
}

// Those whose replicas are connected with each other.
class ConnectedStrategiesTest : public StrategiesTest {};

// With the statistics of the whole batch, moving ones included.
TEST_P(ConnectedStrategiesTest,
       SynchronizedNormalizationEndsWhereASingleProcessDoes) {
  const Models models(
      "[Input: {shape: [6, 6, 1]}, Conv2D: {filters: 3, kernel_size: 3},"
      " BatchNormalization: {synchronized: true, momentum: 0.9}, ReLU: {},"
      " Flatten: {}, Dense: {units: 8},"
      " BatchNormalization: {synchronized: true, momentum: 0.9},"
      " Dense: {units: 5}]");
  ExpectNear(models, "cpu", "SGD", 1e-5);
  ExpectNear(models, "reference_float64", "{Adam: {global_clipnorm: 0.2}}",
             1e-9);
}

// Mean and variance of each of `features` numbers over examples [begin, end).
std::pair<std::vector<double>, std::vector<double>> MomentsOf(
    const std::vector<double>& examples, size_t features, int64_t begin,
    int64_t end) {
  std::vector<double> means(features);
  std::vector<double> variances(features);
  const auto count = static_cast<double>(end - begin);
  for (size_t f = 0; f < features; ++f) {
    for (int64_t i = begin; i < end; ++i) {
      means[f] += examples[i * features + f] / count;
    }
    for (int64_t i = begin; i < end; ++i) {
      const double difference = examples[i * features + f] - means[f];
      variances[f] += difference * difference / count;
    }
  }
  return {means, variances};
}

// Each replica normalises by its own batch; the moving statistics are the means
// of the replicas', weighted by examples, whatever the optimizer and clipping.
TEST_P(StrategiesTest, MovingStatisticsAreWeightedMeans) {
  constexpr size_t kFeatures = 4;
  constexpr double kMomentum = 0.8;
  const Models models(
      "[Input: {shape: [4]}, BatchNormalization: {momentum: 0.8},"
      " Dense: {units: 5}]");
  const Job job = {models, "{Adam: {clipnorm: 0.01}}",
                   DeviceNamed("reference_float64")};
  const auto [kind, count] = GetParam();
  const std::vector<double> examples =
      models.local.SomeExamples(kExamples).features;
  std::vector<double> means(kFeatures, 0);
  std::vector<double> variances(kFeatures, 1);
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t steps_per_epoch =
        (kExamples + kGlobalBatch - 1) / kGlobalBatch;
    const int64_t at = step % steps_per_epoch * kGlobalBatch;
    const int64_t size = std::min(kGlobalBatch, kExamples - at);
    for (size_t f = 0; f < kFeatures; ++f) {
      means[f] *= kMomentum;
      variances[f] *= kMomentum;
    }
    for (int rank = 0; rank < count; ++rank) {
      const int64_t begin = at + size * rank / count;
      const int64_t end = at + size * (rank + 1) / count;
      if (begin == end) continue;
      const auto [mean, variance] = MomentsOf(examples, kFeatures, begin, end);
      const double share = static_cast<double>(end - begin) / size;
      for (size_t f = 0; f < kFeatures; ++f) {
        means[f] += (1 - kMomentum) * share * mean[f];
        variances[f] += (1 - kMomentum) * share * variance[f];
      }
    }
  }
  const Variables result = TrainReplicas(job, kind, count).front();
  // gamma, beta, then the statistics.
  for (size_t f = 0; f < kFeatures; ++f) {
    EXPECT_NEAR(result[2 * kFeatures + f], means[f], 1e-12);
    EXPECT_NEAR(result[3 * kFeatures + f], variances[f], 1e-12);
  }
}

std::string NameOf(StrategyKind kind) {
  switch (kind) {
    case StrategyKind::kAllReduce:
      return "AllReduce";
    case StrategyKind::kCentralStorage:
      return "CentralStorage";
    case StrategyKind::kParameterServer:
      return "ParameterServer";
    case StrategyKind::kRemoteParameterServer:
      return "RemoteParameterServer";
  }
  return "";
}

std::string NameOfReplicas(
    const ::testing::TestParamInfo<std::tuple<StrategyKind, int>>& info) {
  return absl::StrCat(NameOf(std::get<0>(info.param)), std::get<1>(info.param));
}

constexpr StrategyKind kKinds[] = {
    StrategyKind::kAllReduce, StrategyKind::kCentralStorage,
    StrategyKind::kParameterServer, StrategyKind::kRemoteParameterServer};

INSTANTIATE_TEST_SUITE_P(Replicas, StrategiesTest,
                         ::testing::Combine(::testing::ValuesIn(kKinds),
                                            ::testing::Values(2, 3, 5)),
                         NameOfReplicas);
INSTANTIATE_TEST_SUITE_P(
    Replicas, ConnectedStrategiesTest,
    ::testing::Combine(::testing::Values(StrategyKind::kAllReduce,
                                         StrategyKind::kCentralStorage),
                       ::testing::Values(2, 3, 5)),
    NameOfReplicas);
INSTANTIATE_TEST_SUITE_P(Replicas, ClippedStrategiesTest,
                         ::testing::Combine(::testing::ValuesIn(kKinds),
                                            ::testing::Values(3)),
                         NameOfReplicas);

}  // namespace
}  // namespace paceline
