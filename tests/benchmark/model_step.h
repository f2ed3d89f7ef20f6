// The training step of a job with one replica: forward, backward, and the
// optimizer, which runs on the device if it can, else in host memory on the CPU
// device's threads.
#ifndef PACELINE_TESTS_BENCHMARK_MODEL_STEP_H_
#define PACELINE_TESTS_BENCHMARK_MODEL_STEP_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/tensor/shape.h"
#include "paceline/v1/job.pb.h"
#include "worker/setup/replica.h"
#include "worker/strategy/strategy.h"

namespace paceline {

// Random examples in memory: features in [0, 1), and labels.
struct ModelBatch {
  ModelBatch(int64_t count, const Shape& shape, int64_t classes);

  int64_t count;
  std::vector<float> features;
  // Class ids.
  std::vector<int32_t> labels;
  // For losses without ids: of the output's shape, one-hot rows.
  std::vector<float> label_values;
};

// Not thread-safe.
class ModelStep {
 public:
  // Uses the job's device. Errors are those of MakeReplica.
  static absl::StatusOr<std::unique_ptr<ModelStep>> Make(v1::Job job,
                                                         int threads,
                                                         int64_t batch_size);

  // Examples that fit the model.
  ModelBatch SomeBatch() const;

  // Runs a step. Like a worker, does not wait for the step if the device
  // updates.
  absl::Status Run(const ModelBatch& batch);

  // Mean loss of the batches since the last call. Blocks until their steps are
  // done.
  absl::StatusOr<double> TakeLoss();

  const Device& device() const { return *replica_->device; }

 private:
  ModelStep(std::unique_ptr<Replica> replica, int64_t batch_size);

  std::unique_ptr<Replica> replica_;
  int64_t batch_size_;
  std::unique_ptr<Strategy> update_;
};

// The tutorial's CNN with Adam, on the CPU, and a batch for it.
inline constexpr int64_t kTutorialBatchSize = 64;
std::unique_ptr<ModelStep> TutorialStep(int threads);
ModelBatch TutorialBatch();

}  // namespace paceline

#endif  // PACELINE_TESTS_BENCHMARK_MODEL_STEP_H_
