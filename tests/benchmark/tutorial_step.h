// The training step of a job of one worker on the CPU device: the tutorial's
// model, whose gradients Adam applies on the same threads.
#ifndef PACELINE_TESTS_BENCHMARK_TUTORIAL_STEP_H_
#define PACELINE_TESTS_BENCHMARK_TUTORIAL_STEP_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "common/model/graph.h"
#include "common/model/loss.h"
#include "common/model/metric.h"
#include "common/optimizer/optimizer.h"
#include "common/sharding/shard_plan.h"
#include "worker/device/cpu/cpu_device.h"
#include "worker/device/device.h"

namespace paceline {

// As many images of 28 × 28 pixels in [0, 1) as a batch has, with class ids.
struct TutorialBatch {
  static constexpr int64_t kCount = 64;

  TutorialBatch();

  std::vector<float> images;
  std::vector<int32_t> labels;
};

class TutorialStep {
 public:
  explicit TutorialStep(int threads);

  void Run(const TutorialBatch& batch);

  // Mean loss of the batches since the last call.
  double TakeLoss();

 private:
  void FillVariables();
  void Update(int bucket);

  Graph graph_;
  std::unique_ptr<const Loss> loss_;
  std::vector<std::unique_ptr<const Metric>> metrics_;
  std::unique_ptr<const Optimizer> optimizer_;
  ShardPlan plan_;
  CpuDevice device_;
  std::unique_ptr<ModelState> state_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Stream> stream_;
  // By bucket, then by slot.
  std::vector<std::vector<std::vector<float>>> slots_;
  int64_t iterations_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_BENCHMARK_TUTORIAL_STEP_H_
