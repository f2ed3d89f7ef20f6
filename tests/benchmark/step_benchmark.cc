// One worker's whole training step of the tutorial's CNN, Adam included: the
// CPU device against the same work as a hand-written chain of oneDNN
// primitives.
//
// StepAgainstChain runs both in turn. Its counter `ratio` is the device's time
// over the chain's; the median and the quartiles over the repetitions count.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <chrono>
#include <memory>

#include "glog/logging.h"
#include "tests/benchmark/model_step.h"
#include "tests/benchmark/peers/onednn_chain.h"
#include "tests/benchmark/quantiles.h"

namespace paceline {
namespace {

using peers::ImageLayout;
using peers::OnednnChain;

static_assert(OnednnChain::kBatchSize == kTutorialBatchSize);

// The mean seconds of a step over `count` steps, after a warm-up step.
template <typename Step>
double TimeOf(const Step& step, int count) {
  step();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) step();
  const std::chrono::duration<double> duration =
      std::chrono::steady_clock::now() - start;
  return duration.count() / count;
}

void Run(ModelStep& step, const ModelBatch& batch) {
  const absl::Status status = step.Run(batch);
  CHECK(status.ok()) << status;
}

void RunChain(OnednnChain& chain, const ModelBatch& batch) {
  chain.Step(batch.features.data(), batch.labels.data());
}

// The chain in the layout that is faster on this machine.
std::unique_ptr<OnednnChain> FastestChain(const ModelBatch& batch) {
  std::unique_ptr<OnednnChain> fastest;
  double fastest_seconds = 0;
  for (const ImageLayout layout :
       {ImageLayout::kChannelsLast, ImageLayout::kAny}) {
    auto chain = std::make_unique<OnednnChain>(layout);
    const double seconds = TimeOf([&] { RunChain(*chain, batch); }, 30);
    if (fastest == nullptr || seconds < fastest_seconds) {
      fastest = std::move(chain);
      fastest_seconds = seconds;
    }
  }
  return fastest;
}

void Step(benchmark::State& state) {
  const ModelBatch batch = TutorialBatch();
  const auto step = TutorialStep(static_cast<int>(state.range(0)));
  for ([[maybe_unused]] auto _ : state) Run(*step, batch);
  state.SetItemsProcessed(state.iterations() * kTutorialBatchSize);
}

void Chain(benchmark::State& state) {
  omp_set_num_threads(static_cast<int>(state.range(0)));
  const ModelBatch batch = TutorialBatch();
  const auto chain = FastestChain(batch);
  for ([[maybe_unused]] auto _ : state) RunChain(*chain, batch);
  state.SetItemsProcessed(state.iterations() * kTutorialBatchSize);
}

void StepAgainstChain(benchmark::State& state) {
  constexpr int kSteps = 20;
  omp_set_num_threads(static_cast<int>(state.range(0)));
  const ModelBatch batch = TutorialBatch();
  const auto chain = FastestChain(batch);
  const auto step = TutorialStep(static_cast<int>(state.range(0)));
  double step_seconds = 0;
  double chain_seconds = 0;
  for ([[maybe_unused]] auto _ : state) {
    chain_seconds += TimeOf([&] { RunChain(*chain, batch); }, kSteps);
    step_seconds += TimeOf([&] { Run(*step, batch); }, kSteps);
  }
  const auto pairs = static_cast<double>(state.iterations());
  state.counters["step_ms"] = step_seconds / pairs * 1e3;
  state.counters["chain_ms"] = chain_seconds / pairs * 1e3;
  state.counters["ratio"] = step_seconds / chain_seconds;
}

BENCHMARK(Step)->Arg(1)->Arg(2)->ArgName("threads")->UseRealTime();
BENCHMARK(Chain)->Arg(1)->Arg(2)->ArgName("threads")->UseRealTime();
BENCHMARK(StepAgainstChain)
    ->Arg(1)
    ->Arg(2)
    ->ArgName("threads")
    ->UseRealTime()
    ->Iterations(5)
    ->Repetitions(9)
    ->ReportAggregatesOnly()
    ->ComputeStatistics("quartile1", Quartile1)
    ->ComputeStatistics("quartile3", Quartile3);

}  // namespace
}  // namespace paceline

BENCHMARK_MAIN();
