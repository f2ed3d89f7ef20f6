#include "tests/benchmark/model_step.h"

#include <random>
#include <utility>

#include "common/base/status_macros.h"
#include "common/job/job_reader.h"
#include "common/model/metric_layout.h"
#include "glog/logging.h"
#include "worker/device/cpu/parallel.h"
#include "worker/strategy/device_update.h"
#include "worker/training_step.h"

namespace paceline {
namespace {

// Updates the replica's variables on the host, and uploads them to its device.
class HostUpdate final : public Strategy {
 public:
  explicit HostUpdate(Replica& replica) : replica_(replica) {}

  absl::Status PullVariables() override {
    return replica_.variables->Upload(*replica_.stream);
  }

  absl::Status BeginLease(std::optional<double> learning_rate) override {
    learning_rate_ = learning_rate;
    return absl::OkStatus();
  }

  absl::Status GradientsReady(int bucket) override {
    cpu::ParallelFor(replica_.plan.layout().buckets()[bucket].count, 1,
                     [&](int64_t begin, int64_t end) {
                       replica_.variables->Apply(bucket, begin, end - begin,
                                                 learning_rate_,
                                                 *replica_.state);
                     });
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> EndStep(const v1::Progress&) override {
    replica_.variables->EndUpdate();
    RETURN_IF_ERROR(PullVariables());
    return replica_.variables->iterations();
  }

 private:
  Replica& replica_;
  std::optional<double> learning_rate_;
};

std::unique_ptr<Strategy> MakeUpdate(Replica& replica) {
  if (replica.state->device_updates() != nullptr) {
    return std::make_unique<DeviceUpdateStrategy>(*replica.variables);
  }
  return std::make_unique<HostUpdate>(replica);
}

}  // namespace

ModelBatch::ModelBatch(int64_t count, const Shape& shape, int64_t classes)
    : count(count), features(count * NumElements(shape)), labels(count) {
  std::minstd_rand random(1);
  std::uniform_real_distribution<float> feature(0, 1);
  for (float& value : features) value = feature(random);
  for (int32_t& label : labels) {
    label = static_cast<int32_t>(random() % classes);
  }
}

absl::StatusOr<std::unique_ptr<ModelStep>> ModelStep::Make(v1::Job job,
                                                           int threads,
                                                           int64_t batch_size) {
  job.mutable_cluster()->set_ps(0);
  ASSIGN_OR_RETURN(std::unique_ptr<Replica> replica,
                   MakeReplica(job, {.threads = threads}));
  CompileOptions options;
  options.batch_size = batch_size;
  options.holds_variables = true;
  options.is_alone = true;
  RETURN_IF_ERROR(CompileReplica(job, options, *replica));
  auto step =
      std::unique_ptr<ModelStep>(new ModelStep(std::move(replica), batch_size));
  Replica& made = *step->replica_;
  RETURN_IF_ERROR(made.variables->Upload(*made.stream));
  return step;
}

ModelStep::ModelStep(std::unique_ptr<Replica> replica, int64_t batch_size)
    : replica_(std::move(replica)),
      batch_size_(batch_size),
      update_(MakeUpdate(*replica_)) {}

ModelBatch ModelStep::SomeBatch() const {
  const Graph& graph = replica_->model.graph;
  const int64_t classes = graph.output_shape(0).back();
  ModelBatch batch(batch_size_, graph.input_shape(0), classes);
  if (const int64_t ids = FeatureIdCount(graph, 0); ids > 0) {
    std::minstd_rand random(2);
    for (float& id : batch.features) id = static_cast<float>(random() % ids);
  }
  // One label for each row of classes.
  const int64_t rows = NumElements(graph.output_shape(0)) / classes;
  for (std::minstd_rand random(4);
       std::ssize(batch.labels) < batch_size_ * rows;) {
    batch.labels.push_back(static_cast<int32_t>(random() % classes));
  }
  if (!replica_->model.objectives[0].loss->has_sparse_labels()) {
    const int64_t size = batch_size_ * NumElements(graph.output_shape(0));
    batch.label_values.resize(size);
    std::minstd_rand random(3);
    for (int64_t row = 0; row < size; row += classes) {
      batch.label_values[row + random() % classes] = 1;
    }
  }
  return batch;
}

absl::Status ModelStep::Run(const ModelBatch& batch) {
  ASSIGN_OR_RETURN(Program * program,
                   replica_->programs->Get(Mode::kTrain, batch.count));
  RETURN_IF_ERROR(program->SetBatch(
      {.count = batch.count,
       .features = {{DataType::kFloat32, batch.features.data()}},
       .labels = {batch.label_values.empty()
                      ? HostTensor{DataType::kInt32, batch.labels.data()}
                      : HostTensor{DataType::kFloat32,
                                   batch.label_values.data()}},
       .loss_divisor = static_cast<double>(batch.count)},
      *replica_->stream));
  RETURN_IF_ERROR(RunSections(*program, *replica_->stream, *update_, [] {}));
  return update_->EndStep({}).status();
}

absl::StatusOr<double> ModelStep::TakeLoss() {
  MetricSums sums;
  sums.states.resize(MetricLayout(replica_->spec.outputs).size());
  RETURN_IF_ERROR(replica_->state->TakeMetrics(*replica_->stream, sums));
  return sums.states[0] / sums.states[1];
}

std::unique_ptr<ModelStep> TutorialStep(int threads) {
  const absl::StatusOr<v1::Job> job = ReadJob(
      R"(strategy: mirrored
device: cpu
seed: 1
model:
  layers:
    - Input: {shape: [28, 28, 1]}
    - Conv2D: {filters: 32, kernel_size: 3, activation: relu}
    - MaxPooling2D: {}
    - Flatten: {}
    - Dense: {units: 64, activation: relu}
    - Dense: {units: 10}
loss: {SparseCategoricalCrossentropy: {from_logits: true}}
optimizer: {Adam: {learning_rate: 0.001}}
metrics: [accuracy]
data: {train: {idx: {features: images, labels: labels}}}
batch_size_per_replica: 64
)",
      "tutorial.yaml", {}, {.check_files = false});
  CHECK(job.ok()) << job.status();
  auto step = ModelStep::Make(*job, threads, kTutorialBatchSize);
  CHECK(step.ok()) << step.status();
  return *std::move(step);
}

ModelBatch TutorialBatch() { return {kTutorialBatchSize, {28, 28, 1}, 10}; }

}  // namespace paceline
