// How much of a slow network is hidden behind backward: two replicas, 5 ms
// injected into the transfer of each bucket. `growth` is what a step takes
// longer, over the sum of what was injected into it.
#include <benchmark/benchmark.h>
#include <glog/logging.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/job/job_reader.h"
#include "tests/benchmark/quantiles.h"
#include "tests/conformance/forwarding_transport.h"
#include "worker/collective/memory_transport.h"
#include "worker/replica.h"
#include "worker/strategy/all_reduce.h"
#include "worker/training_step.h"

namespace paceline {
namespace {

constexpr int kReplicas = 2;
constexpr int kBatchSize = 256;
constexpr int kSteps = 10;
constexpr int kPairs = 5;
constexpr absl::Duration kDelay = absl::Milliseconds(5);
constexpr absl::Duration kTimeout = absl::Seconds(60);

// Six layers of 4 MiB, a bucket each.
constexpr char kJob[] = R"(
strategy: mirrored
devices: 2
model:
  layers:
    - Input: {shape: [1024]}
    - Dense: {units: 1024, activation: relu}
    - Dense: {units: 1024, activation: relu}
    - Dense: {units: 1024, activation: relu}
    - Dense: {units: 1024, activation: relu}
    - Dense: {units: 1024, activation: relu}
    - Dense: {units: 1024, activation: relu}
    - Dense: {units: 10}
loss: {SparseCategoricalCrossentropy: {from_logits: true}}
optimizer: SGD
data: {train: {idx: {features: f, labels: l}}}
batch_size_per_replica: 256
)";

v1::Job ParsedJob() {
  JobReaderOptions reader;
  reader.check_files = false;
  const auto job = ReadJob(kJob, "job", {}, reader);
  CHECK(job.ok()) << job.status();
  return *job;
}

// Large messages arrive late.
class SlowTransport final : public ForwardingTransport {
 public:
  explicit SlowTransport(std::unique_ptr<Transport> transport)
      : ForwardingTransport(std::move(transport)) {}

  // Of each large message from now on.
  void set_delay(absl::Duration delay) { delay_ = delay; }
  int64_t large_count() const { return large_count_; }

  absl::Status Exchange(int to, absl::Span<const std::byte> out, int from,
                        size_t in_size, Sink sink) override {
    constexpr size_t kLarge = 1 << 20;
    if (out.size() >= kLarge) {
      ++large_count_;
      if (delay_ > absl::ZeroDuration()) absl::SleepFor(delay_);
    }
    return ForwardingTransport::Exchange(to, out, from, in_size, sink);
  }

 private:
  absl::Duration delay_;
  int64_t large_count_ = 0;
};

void Check(const absl::Status& status) { CHECK(status.ok()) << status; }

// One replica, its strategy and its batch.
class Member {
 public:
  Member(const v1::Job& job, std::unique_ptr<Transport> transport)
      : transport_(std::move(transport)),
        features_(kBatchSize * 1024, 0.01F),
        labels_(kBatchSize, 1) {
    auto replica = MakeReplica(job, {});
    CHECK(replica.ok()) << replica.status();
    replica_ = *std::move(replica);
    CompileOptions options;
    options.batch_size = kBatchSize;
    options.holds_variables = true;
    Check(CompileReplica(job, options, *replica_));
    AllReduceOptions strategy;
    strategy.on_waiting = [](const std::string&) {};
    strategy_ = std::make_unique<AllReduceStrategy>(
        std::move(strategy), transport_, replica_->plan, *replica_->variables,
        *replica_->state, *replica_->stream);
    auto program = replica_->programs->Get(Mode::kTrain, kBatchSize);
    CHECK(program.ok()) << program.status();
    program_ = *program;
    Check(strategy_->PullVariables());
  }

  SlowTransport& transport() { return transport_; }
  int bucket_count() const {
    return static_cast<int>(replica_->plan.updated_buckets().size());
  }

  void Step() {
    Batch batch;
    batch.count = kBatchSize;
    batch.loss_divisor = kReplicas * kBatchSize;
    batch.features = {{DataType::kFloat32,
                       reinterpret_cast<const std::byte*>(features_.data())}};
    batch.labels = {{DataType::kInt32, labels_.data()}};
    Stream& stream = *replica_->stream;
    Check(program_->SetBatch(batch, stream));
    Check(RunSections(*program_, stream, *strategy_, [] {}));
    Check(strategy_->EndStep({}).status());
  }

 private:
  SlowTransport transport_;
  const std::vector<float> features_;
  const std::vector<int32_t> labels_;
  std::unique_ptr<Replica> replica_;
  std::unique_ptr<AllReduceStrategy> strategy_;
  Program* program_ = nullptr;
};

// Seconds of a step of all.
double TimeSteps(std::vector<std::unique_ptr<Member>>& members) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (const auto& member : members) {
    threads.emplace_back([&member] {
      for (int step = 0; step < kSteps; ++step) member->Step();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> duration =
      std::chrono::steady_clock::now() - start;
  return duration.count() / kSteps;
}

void Overlap(benchmark::State& state) {
  const v1::Job job = ParsedJob();
  MemoryGroup group(kReplicas, kTimeout);
  std::vector<std::unique_ptr<Member>> members;
  for (int rank = 0; rank < kReplicas; ++rank) {
    members.push_back(std::make_unique<Member>(job, group.MakeTransport(rank)));
  }
  TimeSteps(members);
  const Member& first = *members.front();
  const int64_t messages_per_step =
      members.front()->transport().large_count() / kSteps;
  const double injected = absl::ToDoubleSeconds(kDelay) * first.bucket_count();
  const auto set_delay = [&](absl::Duration delay) {
    for (const auto& member : members) member->transport().set_delay(delay);
  };
  double plain = 0;
  double slow = 0;
  for ([[maybe_unused]] auto _ : state) {
    set_delay(absl::ZeroDuration());
    plain += TimeSteps(members);
    set_delay(kDelay * first.bucket_count() / messages_per_step);
    slow += TimeSteps(members);
  }
  const auto pairs = static_cast<double>(state.iterations());
  state.counters["buckets"] = first.bucket_count();
  state.counters["step_ms"] = plain / pairs * 1e3;
  state.counters["slow_step_ms"] = slow / pairs * 1e3;
  state.counters["growth"] = (slow - plain) / pairs / injected;
}
BENCHMARK(Overlap)
    ->UseRealTime()
    ->Iterations(1)
    ->Repetitions(kPairs)
    ->ReportAggregatesOnly()
    ->ComputeStatistics("quartile1", Quartile1)
    ->ComputeStatistics("quartile3", Quartile3);

}  // namespace
}  // namespace paceline

BENCHMARK_MAIN();
