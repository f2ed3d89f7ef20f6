// One worker's whole training step of the tutorial CNN, Adam included: the CPU
// device against the same work as a hand-written chain of oneDNN primitives.
//
// StepAgainstChain runs both in turn; its counter `ratio` is the device's time
// over the chain's, of which the median and the quartiles over the repetitions
// count.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <vector>

#include "absl/types/span.h"
#include "common/model/graph.h"
#include "common/model/loss.h"
#include "common/model/metric.h"
#include "common/optimizer/optimizer.h"
#include "common/sharding/shard_plan.h"
#include "glog/logging.h"
#include "google/protobuf/text_format.h"
#include "tests/benchmark/peers/onednn_chain.h"
#include "worker/device/cpu/cpu_device.h"
#include "worker/device/cpu/parallel.h"

namespace paceline {
namespace {

using peers::ImageLayout;
using peers::OnednnChain;

constexpr int64_t kBatchSize = OnednnChain::kBatchSize;
constexpr char kModel[] = R"pb(
  layers {
    class_name: "InputLayer"
    config {
      fields {
        key: "shape"
        value {
          list_value {
            values { number_value: 28 }
            values { number_value: 28 }
            values { number_value: 1 }
          }
        }
      }
    }
  }
  layers {
    class_name: "Conv2D"
    config {
      fields {
        key: "filters"
        value { number_value: 32 }
      }
      fields {
        key: "kernel_size"
        value { number_value: 3 }
      }
      fields {
        key: "activation"
        value { string_value: "relu" }
      }
    }
  }
  layers { class_name: "MaxPooling2D" }
  layers { class_name: "Flatten" }
  layers {
    class_name: "Dense"
    config {
      fields {
        key: "units"
        value { number_value: 64 }
      }
      fields {
        key: "activation"
        value { string_value: "relu" }
      }
    }
  }
  layers {
    class_name: "Dense"
    config {
      fields {
        key: "units"
        value { number_value: 10 }
      }
    }
  }
)pb";
constexpr char kLoss[] = R"pb(
  class_name: "SparseCategoricalCrossentropy"
  config {
    fields {
      key: "from_logits"
      value { bool_value: true }
    }
  }
)pb";

template <typename Message>
Message Parse(const char* text) {
  Message message;
  CHECK(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

template <typename T>
T ValueOrDie(absl::StatusOr<T> value) {
  CHECK(value.ok()) << value.status();
  return *std::move(value);
}

absl::Span<float> Floats(absl::Span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

struct Examples {
  Examples() : images(kBatchSize * OnednnChain::kImageSize) {
    std::minstd_rand random(1);
    std::uniform_real_distribution<float> pixel(0, 1);
    for (float& value : images) value = pixel(random);
    for (int64_t i = 0; i < kBatchSize; ++i) {
      labels.push_back(static_cast<int32_t>(random() % 10));
    }
  }

  std::vector<float> images;
  std::vector<int32_t> labels;
};

// A job of one worker that applies its own gradients.
class DeviceStep {
 public:
  explicit DeviceStep(int threads)
      : graph_(ValueOrDie(BuildGraph(Parse<v1::Model>(kModel)))),
        loss_(ValueOrDie(MakeLoss(Parse<v1::KerasObject>(kLoss)))),
        optimizer_(ValueOrDie(
            MakeOptimizer(Parse<v1::KerasObject>("class_name: 'Adam'")))),
        plan_(ValueOrDie(ShardPlan::Make(graph_.variables, 1, {}, 4))),
        device_({.threads = threads}) {
    google::protobuf::RepeatedPtrField<v1::KerasObject> names;
    names.Add()->set_class_name("accuracy");
    metrics_ = ValueOrDie(MakeMetrics(names, *loss_, graph_.output_shape()));
    const ProgramSpec spec{.graph = &graph_,
                           .plan = &plan_,
                           .loss = loss_.get(),
                           .metrics = metrics_,
                           .mode = Mode::kTrain,
                           .batch_size = kBatchSize,
                           .seed = 1};
    state_ = ValueOrDie(device_.CreateState(spec));
    program_ = ValueOrDie(device_.Compile(spec, *state_));
    stream_ = device_.CreateStream();
    FillVariables();
    batch_ = {.count = kBatchSize,
              .features = {DataType::kFloat32, examples_.images.data()},
              .labels = {DataType::kInt32, examples_.labels.data()},
              .loss_divisor = kBatchSize};
  }

  void Run() {
    CHECK(program_->SetBatch(batch_, *stream_).ok());
    for (size_t i = 0; i < program_->sections().size(); ++i) {
      CHECK(program_->Enqueue(static_cast<int>(i), *stream_).ok());
      for (const int bucket : program_->sections()[i].final_buckets) {
        Update(bucket);
      }
    }
    ++iterations_;
  }

 private:
  void FillVariables() {
    for (size_t i = 0; i < graph_.variables.size(); ++i) {
      const VariableSpec& variable = graph_.variables[i];
      const VariablePlace place = plan_.place(static_cast<int>(i));
      variable.initializer->Fill(
          VariableKey(1, variable.name), variable.shape, 0,
          Floats(state_->host_variables(place.bucket))
              .subspan(place.offset, NumElements(variable.shape)));
    }
    slots_.resize(plan_.buckets().size());
    for (size_t i = 0; i < slots_.size(); ++i) {
      slots_[i].assign(2, std::vector<float>(plan_.buckets()[i].count));
    }
  }

  // Adam on a bucket, on the device's threads.
  void Update(int bucket) {
    const absl::Span<float> values = Floats(state_->host_variables(bucket));
    const absl::Span<float> gradients = Floats(state_->host_gradients(bucket));
    cpu::ParallelFor(
        plan_.buckets()[bucket].count, 1, [&](int64_t begin, int64_t end) {
          const size_t count = end - begin;
          const absl::Span<float> slots[] = {
              absl::MakeSpan(slots_[bucket][0]).subspan(begin, count),
              absl::MakeSpan(slots_[bucket][1]).subspan(begin, count)};
          optimizer_->Apply(
              iterations_,
              UpdateRange<float>{values.subspan(begin, count),
                                 gradients.subspan(begin, count), slots});
        });
  }

  Examples examples_;
  Graph graph_;
  std::unique_ptr<const Loss> loss_;
  std::vector<std::unique_ptr<const Metric>> metrics_;
  std::unique_ptr<const Optimizer> optimizer_;
  ShardPlan plan_;
  CpuDevice device_;
  std::unique_ptr<ModelState> state_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Stream> stream_;
  Batch batch_;
  // Of each bucket, the optimizer's.
  std::vector<std::vector<std::vector<float>>> slots_;
  int64_t iterations_ = 0;
};

double Seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// Seconds that `step` takes, once it is warm.
template <typename Step>
double TimeOf(const Step& step, int count) {
  step();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) step();
  return Seconds(std::chrono::steady_clock::now() - start) / count;
}

// The chain in the layout that is faster on this machine.
std::unique_ptr<OnednnChain> FastestChain(const Examples& examples) {
  std::unique_ptr<OnednnChain> fastest;
  double fastest_seconds = 0;
  for (const ImageLayout layout :
       {ImageLayout::kChannelsLast, ImageLayout::kAny}) {
    auto chain = std::make_unique<OnednnChain>(layout);
    const double seconds = TimeOf(
        [&] { chain->Step(examples.images.data(), examples.labels.data()); },
        /*count=*/50);
    if (fastest == nullptr || seconds < fastest_seconds) {
      fastest = std::move(chain);
      fastest_seconds = seconds;
    }
  }
  return fastest;
}

void Step(::benchmark::State& state) {
  DeviceStep step(static_cast<int>(state.range(0)));
  for (auto _ : state) step.Run();
  state.SetItemsProcessed(state.iterations() * kBatchSize);
}

void Chain(::benchmark::State& state) {
  omp_set_num_threads(static_cast<int>(state.range(0)));
  const Examples examples;
  const auto chain = FastestChain(examples);
  for (auto _ : state) {
    chain->Step(examples.images.data(), examples.labels.data());
  }
  state.SetItemsProcessed(state.iterations() * kBatchSize);
}

void StepAgainstChain(::benchmark::State& state) {
  constexpr int kSteps = 20;
  omp_set_num_threads(static_cast<int>(state.range(0)));
  const Examples examples;
  const auto chain = FastestChain(examples);
  DeviceStep step(static_cast<int>(state.range(0)));
  double device_seconds = 0;
  double chain_seconds = 0;
  for (auto _ : state) {
    chain_seconds += TimeOf(
        [&] { chain->Step(examples.images.data(), examples.labels.data()); },
        kSteps);
    device_seconds += TimeOf([&] { step.Run(); }, kSteps);
  }
  const auto pairs = static_cast<double>(state.iterations());
  state.counters["device_ms"] = device_seconds / pairs * 1e3;
  state.counters["chain_ms"] = chain_seconds / pairs * 1e3;
  state.counters["ratio"] = device_seconds / chain_seconds;
}

double Quantile(const std::vector<double>& values, double share) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<size_t>(share *
                                    static_cast<double>(sorted.size() - 1))];
}

BENCHMARK(Step)->Arg(1)->Arg(2)->ArgName("threads")->UseRealTime();
BENCHMARK(Chain)->Arg(1)->Arg(2)->ArgName("threads")->UseRealTime();
BENCHMARK(StepAgainstChain)
    ->Arg(1)
    ->Arg(2)
    ->ArgName("threads")
    ->UseRealTime()
    ->Iterations(10)
    ->Repetitions(7)
    ->ReportAggregatesOnly()
    ->ComputeStatistics("quartile1",
                        [](const std::vector<double>& values) {
                          return Quantile(values, 0.25);
                        })
    ->ComputeStatistics("quartile3", [](const std::vector<double>& values) {
      return Quantile(values, 0.75);
    });

}  // namespace
}  // namespace paceline

BENCHMARK_MAIN();
