#include "tests/benchmark/tutorial_step.h"

#include <random>
#include <string>
#include <utility>

#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "glog/logging.h"
#include "worker/device/cpu/parallel.h"

namespace paceline {
namespace {

template <typename T>
T Unwrap(absl::StatusOr<T> value) {
  CHECK(value.ok()) << value.status();
  return *std::move(value);
}

v1::KerasObject Object(const std::string& yaml) {
  const Value value = Unwrap(ReadYaml(yaml, "tutorial", limits::kMaxJobBytes));
  return Unwrap(ToProto(Unwrap(ReadKerasObject(value, Path())), Path()));
}

v1::Model Tutorial() {
  v1::Model model;
  for (const char* layer :
       {"Input: {shape: [28, 28, 1]}",
        "Conv2D: {filters: 32, kernel_size: 3, activation: relu}",
        "MaxPooling2D: {}", "Flatten: {}",
        "Dense: {units: 64, activation: relu}", "Dense: {units: 10}"}) {
    *model.add_layers() = Object(layer);
  }
  return model;
}

std::vector<std::unique_ptr<const Metric>> Accuracy(const Loss& loss,
                                                    const Shape& output) {
  google::protobuf::RepeatedPtrField<v1::KerasObject> names;
  *names.Add() = Object("accuracy");
  return Unwrap(MakeMetrics(names, loss, output));
}

absl::Span<float> Floats(absl::Span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

}  // namespace

TutorialBatch::TutorialBatch() {
  std::minstd_rand random(1);
  std::uniform_real_distribution<float> pixel(0, 1);
  for (int64_t i = 0; i < kCount * 28 * 28; ++i) {
    images.push_back(pixel(random));
  }
  for (int64_t i = 0; i < kCount; ++i) {
    labels.push_back(static_cast<int32_t>(random() % 10));
  }
}

TutorialStep::TutorialStep(int threads)
    : graph_(Unwrap(BuildGraph(Tutorial()))),
      loss_(Unwrap(MakeLoss(
          Object("SparseCategoricalCrossentropy: {from_logits: true}")))),
      metrics_(Accuracy(*loss_, graph_.output_shape())),
      optimizer_(Unwrap(MakeOptimizer(Object("Adam: {learning_rate: 0.001}")))),
      plan_(Unwrap(ShardPlan::Make(graph_.variables, 1, {}, sizeof(float)))),
      device_({.threads = threads}) {
  const ProgramSpec spec{.graph = &graph_,
                         .plan = &plan_,
                         .loss = loss_.get(),
                         .metrics = metrics_,
                         .mode = Mode::kTrain,
                         .batch_size = TutorialBatch::kCount,
                         .seed = 1};
  state_ = Unwrap(device_.CreateState(spec));
  program_ = Unwrap(device_.Compile(spec, *state_));
  stream_ = device_.CreateStream();
  FillVariables();
  for (const Bucket& bucket : plan_.buckets()) {
    slots_.emplace_back(optimizer_->slot_names().size(),
                        std::vector<float>(bucket.count));
  }
}

void TutorialStep::FillVariables() {
  for (size_t i = 0; i < graph_.variables.size(); ++i) {
    const VariableSpec& variable = graph_.variables[i];
    const VariablePlace place = plan_.place(static_cast<int>(i));
    variable.initializer->Fill(
        VariableKey(1, variable.name), variable.shape, 0,
        Floats(state_->host_variables(place.bucket))
            .subspan(place.offset, NumElements(variable.shape)));
  }
}

void TutorialStep::Run(const TutorialBatch& batch) {
  const absl::Status status =
      program_->SetBatch({.count = TutorialBatch::kCount,
                          .features = {DataType::kFloat32, batch.images.data()},
                          .labels = {DataType::kInt32, batch.labels.data()},
                          .loss_divisor = TutorialBatch::kCount},
                         *stream_);
  CHECK(status.ok()) << status;
  for (size_t i = 0; i < program_->sections().size(); ++i) {
    CHECK(program_->Enqueue(static_cast<int>(i), *stream_).ok());
    for (const int bucket : program_->sections()[i].final_buckets) {
      Update(bucket);
    }
  }
  ++iterations_;
}

void TutorialStep::Update(int bucket) {
  const absl::Span<float> values = Floats(state_->host_variables(bucket));
  const absl::Span<const float> gradients =
      Floats(state_->host_gradients(bucket));
  std::vector<std::vector<float>>& slots = slots_[bucket];
  cpu::ParallelFor(
      plan_.buckets()[bucket].count, 1, [&](int64_t begin, int64_t end) {
        const size_t count = end - begin;
        const absl::Span<float> parts[] = {
            absl::MakeSpan(slots[0]).subspan(begin, count),
            absl::MakeSpan(slots[1]).subspan(begin, count)};
        optimizer_->Apply(
            iterations_,
            UpdateRange<float>{values.subspan(begin, count),
                               gradients.subspan(begin, count), parts});
      });
}

double TutorialStep::TakeLoss() {
  MetricSums sums{.totals = {0, 0}, .counts = {0, 0}};
  CHECK(state_->TakeMetrics(*stream_, sums).ok());
  return sums.totals[0] / sums.counts[0];
}

}  // namespace paceline
