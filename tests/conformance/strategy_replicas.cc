#include "tests/conformance/strategy_replicas.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/tensor_visits.h"
#include "common/config/yaml_reader.h"
#include "common/job/job_model.h"
#include "common/job/job_plan.h"
#include "common/job/job_reader.h"
#include "common/limits.h"
#include "common/model/layers/batch_normalization.h"
#include "common/rpc/rpc_server.h"
#include "glog/logging.h"
#include "gtest/gtest.h"
#include "ps_server/ps_service.h"
#include "ps_server/shard.h"
#include "tests/conformance/forwarding_transport.h"
#include "tests/test_identity.h"
#include "worker/collective/memory_transport.h"
#include "worker/data/batch_pipeline.h"
#include "worker/device/cpu/cpu_device.h"
#include "worker/program_cache.h"
#include "worker/strategy/all_reduce.h"
#include "worker/strategy/central_storage.h"
#include "worker/strategy/device_update.h"
#include "worker/strategy/local_variables.h"
#include "worker/strategy/parameter_server.h"
#include "worker/strategy/transport_statistics_all_reduce.h"
#include "worker/training_step.h"

namespace paceline {
namespace {

constexpr int kServers = 2;
constexpr char kLoss[] = "{SparseCategoricalCrossentropy: {from_logits: true}}";
constexpr absl::Duration kTimeout = absl::Seconds(60);

Value Yaml(const std::string& text) {
  return *ReadYaml(text, "model", limits::kMaxJobBytes);
}

bool IsServed(StrategyKind kind) {
  return kind == StrategyKind::kParameterServer ||
         kind == StrategyKind::kRemoteParameterServer;
}

v1::Partitioner ChunksOf(int bytes) {
  v1::Partitioner partitioner;
  partitioner.set_chunk_bytes(bytes);
  return partitioner;
}

v1::Job ReadJobUnder(const std::string& strategy, const std::string& layers,
                     const std::string& optimizer) {
  JobReaderOptions reader;
  reader.check_files = false;
  const auto read =
      ReadJob(absl::StrCat("strategy: ", strategy,
                           "\nseed: 7\nmodel: {layers: ", layers,
                           "}\nloss: ", kLoss, "\noptimizer: ", optimizer,
                           "\ndata: {train: {idx: {features: f, labels: l}}}\n"
                           "global_batch_size: 12\n"),
              "job.yaml", {}, reader);
  CHECK(read.ok()) << read.status();
  return *read;
}

v1::Job ReadServersJob(const std::string& layers,
                       const std::string& optimizer) {
  return ReadJobUnder(absl::StrCat("parameter_server\nconsistency: sync\n"
                                   "cluster: {ps: ",
                                   kServers, "}"),
                      layers, optimizer);
}

// With the constraints of the model's variables. Under a strategy that takes
// all layers.
std::unique_ptr<const Optimizer> ReadOptimizer(const std::string& layers,
                                               const std::string& optimizer) {
  const v1::Job job = ReadJobUnder("mirrored", layers, optimizer);
  const auto model = MakeJobModel(job);
  CHECK(model.ok()) << model.status();
  return *MakeJobOptimizer(job, model->graph);
}

// The incarnation of rank 0's worker; other ranks' incarnations follow it.
constexpr uint64_t kFirstWorker = 100;

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
      // The workers' plan is for float32: twice the bytes make the same chunks
      // in float64.
      *request.mutable_job()->mutable_partitioner() =
          ChunksOf(job.models.chunk_bytes * (is_double ? 2 : 1));
      request.set_shard(index);
      request.set_shard_count(kServers);
      request.set_workers(workers);
      v1::InitializeResponse response;
      const absl::Status status = server.shard.Initialize(request, response);
      CHECK(status.ok()) << status;
      v1::AdmitRequest admit;
      for (int rank = 0; rank < workers; ++rank) {
        v1::WorkerId& worker = *admit.add_workers();
        worker.set_rank(rank);
        worker.set_incarnation(kFirstWorker + rank);
      }
      v1::AdmitResponse admitted;
      const absl::Status let_in = server.shard.Admit(admit, admitted);
      CHECK(let_in.ok()) << let_in;
      server.rpc = *StartTestServer("127.0.0.1:0", server.service);
    }
  }

  // Carries out the order of this number on each server.
  void SwapAverages(uint64_t order) {
    v1::ChangeVariablesRequest request;
    request.mutable_order()->set_number(order);
    request.mutable_order()->set_kind(v1::VariablesOrder::KIND_SWAP_AVERAGES);
    for (const auto& server : servers_) {
      v1::ChangeVariablesResponse response;
      const absl::Status status =
          server->shard.ChangeVariables(request, response);
      CHECK(status.ok()) << status;
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

// Counts the bytes that are sent.
class CountingTransport final : public ForwardingTransport {
 public:
  CountingTransport(std::unique_ptr<Transport> transport,
                    std::atomic<int64_t>& sent_bytes)
      : ForwardingTransport(std::move(transport)), sent_bytes_(sent_bytes) {}

  absl::Status Exchange(int to, absl::Span<const std::byte> out, int from,
                        size_t in_size, Sink sink) override {
    sent_bytes_ += static_cast<int64_t>(out.size());
    return ForwardingTransport::Exchange(to, out, from, in_size, sink);
  }

 private:
  std::atomic<int64_t>& sent_bytes_;
};

// One replica, with its own device, state and strategy.
class Replica {
 public:
  // `statistics` connects the replicas for synchronized statistics. Blocks
  // until the devices of all replicas have joined the group `nccl_id`; "":
  // there is no group.
  Replica(const Job& job, StrategyKind kind, const ModelUnderTest& model,
          std::unique_ptr<Transport> transport,
          std::unique_ptr<Transport> statistics, const std::string& nccl_id)
      : model_(model),
        device_updates_(kind == StrategyKind::kDeviceUpdate),
        steps_per_execution_(job.steps_per_execution),
        learning_rate_(job.learning_rate),
        optimizer_(ReadOptimizer(job.models.layers, job.optimizer)),
        device_(job.device.make()),
        stream_(*device_->CreateStream()),
        group_(JoinGroup(nccl_id, *transport, *device_)),
        state_(*device_->CreateState(Spec())),
        statistics_(SynchronizedChannels(model.graph())),
        programs_(Spec(), *device_, *state_),
        transport_(std::move(transport)) {
    statistics_.Join(std::move(statistics), [](const std::string&) {});
    const Examples examples = model.SomeExamples(kExamples);
    if (state_->type() == DataType::kFloat64) {
      Store<double>(examples.features[0]);
    } else {
      Store<float>(examples.features[0]);
    }
    for (const double label : examples.labels[0]) {
      labels_.push_back(static_cast<int32_t>(label));
    }
    slice_.rank = transport_->rank();
    slice_.replica_count = transport_->world_size();
  }

  // Call it before any replica trains. `central` is the replica of rank 0.
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
      case StrategyKind::kDeviceUpdate: {
        MakeVariables();
        const absl::Status uploaded = variables_->Upload(*stream_);
        CHECK(uploaded.ok()) << uploaded;
        strategy_ =
            std::make_unique<DeviceUpdateStrategy>(*variables_, group_.get());
        break;
      }
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
        options.worker.set_incarnation(kFirstWorker + transport_->rank());
        options.caller = TestCaller();
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

  // Takes the steps that are left before step `end`.
  absl::Status Train(int64_t end) {
    RETURN_IF_ERROR(strategy_->PullVariables());
    for (int64_t step = 0, epoch = 0; step < end; ++epoch) {
      for (int64_t at = 0; at < kExamples && step < end;
           at += kGlobalBatch, ++step) {
        if (step < next_step_) continue;
        next_step_ = step + 1;
        if (learning_rate_) rate_ = learning_rate_(step);
        RETURN_IF_ERROR(strategy_->BeginLease(rate_));
        strategy_->BeginStep(v1::Progress(), false);
        RETURN_IF_ERROR(
            Step(epoch, at, std::min(kGlobalBatch, kExamples - at)));
        ASSIGN_OR_RETURN(const int64_t number,
                         strategy_->EndStep(v1::Progress()));
        EXPECT_EQ(number, step + 1);
      }
    }
    // Download here, not in Result: it runs steps that were held back, which
    // wait for the other replicas.
    if (variables_) RETURN_IF_ERROR(variables_->Download(*stream_));
    return group_ == nullptr ? absl::OkStatus() : group_->status();
  }

  // If this replica holds variables.
  absl::Status SwapAverages() {
    return variables_ ? variables_->SwapAverages(*stream_) : absl::OkStatus();
  }
  // Copies what others have changed, and what is on a device that updates.
  absl::Status Pull() {
    RETURN_IF_ERROR(strategy_->PullVariables());
    return variables_ ? variables_->Download(*stream_) : absl::OkStatus();
  }

  // The variables in the order of the model, whatever the plan.
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
  static std::unique_ptr<DeviceGroup> JoinGroup(const std::string& nccl_id,
                                                const Transport& transport,
                                                Device& device) {
    if (nccl_id.empty()) return nullptr;
    return *device.JoinGroup({.nccl_id = nccl_id,
                              .rank = transport.rank(),
                              .world_size = transport.world_size(),
                              .timeout = kTimeout});
  }

  ProgramSpec Spec() {
    ProgramSpec spec = model_.Spec(Mode::kTrain, 1);
    spec.statistics_all_reduce = &statistics_;
    if (device_updates_) spec.optimizer = optimizer_.get();
    spec.group = group_.get();
    spec.steps_per_execution = steps_per_execution_;
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
    if (batch.count == 0 && !device_updates_) return TrainOnNothing();
    batch.epoch = epoch;
    batch.learning_rate = rate_;
    batch.first_example = begin + slice_.SliceBegin(count);
    batch.loss_divisor = static_cast<double>(count);
    batch.regularization_scale =
        static_cast<double>(batch.count) / batch.loss_divisor;
    const size_t example_bytes = features_.size() / kExamples;
    batch.features = {{state_->type(),
                       features_.data() + batch.first_example * example_bytes}};
    const size_t example_labels = labels_.size() / kExamples;
    batch.labels = {{DataType::kInt32,
                     labels_.data() + batch.first_example * example_labels}};
    ASSIGN_OR_RETURN(Program * program,
                     programs_.Get(Mode::kTrain, batch.count));
    RETURN_IF_ERROR(program->SetBatch(batch, *stream_));
    return RunSections(*program, *stream_, *strategy_, [] {});
  }

  absl::Status TrainOnNothing() {
    RETURN_IF_ERROR(statistics_.AddNothing());
    const int buckets =
        static_cast<int>(model_.layout().updated_buckets().size());
    for (int bucket = 0; bucket < buckets; ++bucket) {
      const auto gradients = state_->host_gradients(bucket);
      std::memset(gradients.data(), 0, gradients.size());
      RETURN_IF_ERROR(strategy_->GradientsReady(bucket));
    }
    return absl::OkStatus();
  }

  const ModelUnderTest& model_;
  const bool device_updates_;
  const int steps_per_execution_;
  const std::function<double(int64_t step)> learning_rate_;
  // That of the current step.
  std::optional<double> rate_;
  int64_t next_step_ = 0;
  const std::unique_ptr<const Optimizer> optimizer_;
  const std::unique_ptr<Device> device_;
  const std::unique_ptr<Stream> stream_;
  const std::unique_ptr<DeviceGroup> group_;
  const std::unique_ptr<ModelState> state_;
  TransportStatisticsAllReduce statistics_;
  ProgramCache programs_;
  std::optional<LocalVariables> variables_;
  const std::unique_ptr<Transport> transport_;
  std::unique_ptr<Strategy> strategy_;
  PhaseData slice_;
  std::vector<std::byte> features_;
  std::vector<int32_t> labels_;
};

}  // namespace

Models::Models(const std::string& layers, int chunk_bytes,
               const std::string& optimizer)
    : layers(layers),
      chunk_bytes(chunk_bytes),
      local({Yaml(layers), Yaml(kLoss)}, {}, /*shard_count=*/1,
            MayCutFor(*ReadOptimizer(layers, optimizer))),
      served({Yaml(layers), Yaml(kLoss)}, ChunksOf(chunk_bytes), kServers,
             MayCutFor(*ReadOptimizer(layers, optimizer))) {}

std::vector<Variables> TrainReplicas(const Job& job, StrategyKind kind,
                                     int count) {
  MemoryGroup group(count, kTimeout);
  MemoryGroup statistics(count, kTimeout);
  const bool is_served = IsServed(kind);
  std::optional<Servers> servers;
  if (is_served) servers.emplace(job, count);
  const ModelUnderTest& model =
      is_served ? job.models.served : job.models.local;
  const std::string nccl_id = kind == StrategyKind::kDeviceUpdate && count > 1
                                  ? *job.device.make()->NewNcclId()
                                  : "";
  std::vector<std::unique_ptr<Replica>> replicas(count);
  std::vector<std::thread> makers;
  for (int rank = 0; rank < count; ++rank) {
    makers.emplace_back([&, rank] {
      std::unique_ptr<Transport> transport = group.MakeTransport(rank);
      if (job.sent_bytes != nullptr) {
        transport = std::make_unique<CountingTransport>(std::move(transport),
                                                        *job.sent_bytes);
      }
      replicas[rank] =
          std::make_unique<Replica>(job, kind, model, std::move(transport),
                                    statistics.MakeTransport(rank), nccl_id);
    });
  }
  for (std::thread& maker : makers) maker.join();
  for (const auto& replica : replicas) {
    replica->MakeStrategy(
        kind, *replicas.front(),
        is_served ? servers->members() : std::vector<v1::Member>());
  }
  const auto each = [&](auto work) {
    std::vector<std::thread> threads;
    for (const auto& replica : replicas) {
      threads.emplace_back([&replica, &work] {
        const absl::Status status = work(*replica);
        EXPECT_TRUE(status.ok()) << status;
      });
    }
    for (std::thread& thread : threads) thread.join();
  };
  uint64_t orders = 0;
  const auto swap = [&] {
    if (servers) servers->SwapAverages(++orders);
    each([](Replica& replica) { return replica.SwapAverages(); });
    each([](Replica& replica) { return replica.Pull(); });
  };
  if (job.swaps_averages) {
    each([](Replica& replica) { return replica.Train(kSteps / 2); });
    swap();
    swap();
  }
  each([](Replica& replica) { return replica.Train(kSteps); });
  if (job.swaps_averages) swap();
  std::vector<Variables> results;
  for (const auto& replica : replicas) results.push_back(replica->Result());
  return results;
}

DeviceUnderTest DeviceNamed(const std::string& name) {
  const auto& devices = DevicesUnderTest();
  DeviceUnderTest device = *std::find_if(
      devices.begin(), devices.end(),
      [&](const DeviceUnderTest& each) { return each.name == name; });
  if (name == "cpu") {
    device.make = [] {
      return std::make_unique<CpuDevice>(CpuDeviceOptions{.threads = 1});
    };
  }
  return device;
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

}  // namespace paceline
