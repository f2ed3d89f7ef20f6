// Every synchronous strategy does what a single process does with the same
// global batch, and does it again to the bit.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/tensor_visits.h"
#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "common/optimizer/optimizer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/devices.h"
#include "tests/conformance/model_under_test.h"
#include "worker/collective/memory_transport.h"
#include "worker/data/batch_pipeline.h"
#include "worker/program_cache.h"
#include "worker/strategy/all_reduce.h"
#include "worker/strategy/central_storage.h"
#include "worker/strategy/local_variables.h"

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

enum class StrategyKind { kAllReduce, kCentralStorage };

struct Job {
  const ModelUnderTest& model;
  const Optimizer& optimizer;
  const DeviceUnderTest& device;
};

// One replica with all that is its own.
class Replica {
 public:
  Replica(const Job& job, std::unique_ptr<Transport> transport)
      : job_(job),
        device_(job.device.make()),
        stream_(device_->CreateStream()),
        state_(*device_->CreateState(job.model.Spec(Mode::kTrain, 1))),
        programs_(job.model.Spec(Mode::kTrain, 1), *device_, *state_),
        variables_(job.model.plan(), job.optimizer, *state_),
        transport_(std::move(transport)) {
    FillFromSeed(/*seed=*/7, job.model.graph().variables, variables_);
    const Examples examples = job.model.SomeExamples(kExamples);
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
  void MakeStrategy(StrategyKind kind, Replica& central) {
    const auto on_waiting = [](const std::string&) {};
    if (kind == StrategyKind::kCentralStorage) {
      strategy_ = std::make_unique<CentralStorageStrategy>(
          on_waiting, *transport_, job_.model.plan(), central.variables_,
          *state_, *stream_);
    } else {
      strategy_ = std::make_unique<AllReduceStrategy>(
          AllReduceOptions{.on_waiting = on_waiting}, *transport_,
          job_.model.plan(), variables_, *state_, *stream_);
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
                         strategy_->EndStep(v1::Progress()));
        EXPECT_EQ(number, step + 1);
      }
    }
    return absl::OkStatus();
  }

  // What it computes with.
  Variables Result() {
    Variables result;
    variables_.VisitTensors([&](const Part&, int slot, auto values) {
      if (slot < 0) result.insert(result.end(), values.begin(), values.end());
    });
    return result;
  }

 private:
  template <typename T>
  void Store(const std::vector<double>& numbers) {
    features_.resize(numbers.size() * sizeof(T));
    auto* values = reinterpret_cast<T*>(features_.data());
    for (size_t i = 0; i < numbers.size(); ++i) {
      values[i] = static_cast<T>(numbers[i]);
    }
  }

  // As worker/trainer.cc does it.
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
    for (size_t i = 0; i < program->sections().size(); ++i) {
      const int section = static_cast<int>(i);
      RETURN_IF_ERROR(program->Enqueue(section, *stream_));
      RETURN_IF_ERROR(program->section_event(section).Wait());
      for (const int bucket : program->sections()[i].final_buckets) {
        RETURN_IF_ERROR(strategy_->GradientsReady(bucket));
      }
    }
    return absl::OkStatus();
  }

  absl::Status TrainOnNothing() {
    const int buckets = static_cast<int>(job_.model.plan().buckets().size());
    for (int bucket = 0; bucket < buckets; ++bucket) {
      const auto gradients = state_->host_gradients(bucket);
      std::memset(gradients.data(), 0, gradients.size());
      RETURN_IF_ERROR(strategy_->GradientsReady(bucket));
    }
    return absl::OkStatus();
  }

  const Job job_;
  const std::unique_ptr<Device> device_;
  const std::unique_ptr<Stream> stream_;
  const std::unique_ptr<ModelState> state_;
  ProgramCache programs_;
  LocalVariables variables_;
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
  std::vector<std::unique_ptr<Replica>> replicas;
  for (int rank = 0; rank < count; ++rank) {
    replicas.push_back(
        std::make_unique<Replica>(job, group.MakeTransport(rank)));
    replicas[rank]->MakeStrategy(kind, *replicas.front());
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

std::unique_ptr<const Optimizer> MakeOptimizerOf(const char* name) {
  v1::KerasObject object;
  object.set_class_name(name);
  return *MakeOptimizer(object);
}

class StrategiesTest
    : public ::testing::TestWithParam<std::tuple<StrategyKind, int>> {
 protected:
  StrategiesTest()
      : model_({Yaml("[Input: {shape: [6, 6, 1]},"
                     " Conv2D: {filters: 4, kernel_size: 3, activation: relu,"
                     " kernel_regularizer: {L2: {l2: 0.01}}}, Flatten: {},"
                     " Dropout: {rate: 0.3},"
                     " Dense: {units: 8, activation: tanh,"
                     " kernel_regularizer: {L2: {l2: 0.02}}},"
                     " Dense: {units: 5}]"),
                Yaml("{SparseCategoricalCrossentropy: {from_logits: true}}")}) {
  }

  static const DeviceUnderTest& DeviceNamed(const std::string& name) {
    const auto& devices = DevicesUnderTest();
    return *std::find_if(
        devices.begin(), devices.end(),
        [&](const DeviceUnderTest& each) { return each.name == name; });
  }

  // How far replicas end from a single process.
  static void ExpectNear(const ModelUnderTest& model, const char* device,
                         const char* optimizer_name, double tolerance) {
    const auto optimizer = MakeOptimizerOf(optimizer_name);
    const Job job = {model, *optimizer, DeviceNamed(device)};
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

  const ModelUnderTest model_;
};

TEST_P(StrategiesTest, SgdEndsWhereASingleProcessDoes) {
  ExpectNear(model_, "cpu", "SGD", 1e-5);
}

TEST_P(StrategiesTest, AdamInFloat64EndsWhereASingleProcessDoes) {
  ExpectNear(model_, "reference_float64", "Adam", 1e-9);
}

// A kernel that fills a bucket becomes final before its bias, which belongs to
// the bucket before; a replica without examples has no such order.
TEST_P(StrategiesTest, BucketsMeetInTheSameOrder) {
  const ModelUnderTest model(
      {Yaml(
           "[Input: {shape: [1100]}, Dense: {units: 1000}, Dense: {units: 5}]"),
       Yaml("{SparseCategoricalCrossentropy: {from_logits: true}}")});
  ASSERT_EQ(model.plan().buckets().size(), 2u);
  ExpectNear(model, "cpu", "SGD", 1e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Replicas, StrategiesTest,
    ::testing::Combine(::testing::Values(StrategyKind::kAllReduce,
                                         StrategyKind::kCentralStorage),
                       ::testing::Values(2, 3, 5)),
    [](const auto& info) {
      return absl::StrCat(std::get<0>(info.param) == StrategyKind::kAllReduce
                              ? "AllReduce"
                              : "CentralStorage",
                          std::get<1>(info.param));
    });

}  // namespace
}  // namespace paceline
