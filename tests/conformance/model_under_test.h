// A model that tests run on any device, with all values as doubles.
#ifndef PACELINE_TESTS_CONFORMANCE_MODEL_UNDER_TEST_H_
#define PACELINE_TESTS_CONFORMANCE_MODEL_UNDER_TEST_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/config/value.h"
#include "common/job/job_model.h"
#include "common/model/graph.h"
#include "common/model/loss.h"
#include "common/model/metric.h"
#include "common/model/objective.h"
#include "common/sharding/shard_plan.h"
#include "worker/device/device.h"

namespace paceline {

struct OutputConfig {
  // By name.
  std::string layer = {};
  // Null: none.
  Value loss = "mse";
  double weight = 1;
  Value metrics = Value::List{};
  Value weighted_metrics = Value::List{};
};

// Keras objects, as in a job.
struct ModelConfig {
  Value layers;
  // The loss of the last layer's output.
  Value loss = "mse";
  Value metrics = Value::List{};
  Value weighted_metrics = Value::List{};
  std::map<std::string, double> class_weight = {};
  bool has_sample_weights = false;
  Precision precision = Precision::kFloat32;
  // For a model with several inputs or outputs, instead of the fields above.
  std::vector<OutputConfig> outputs = {};
};

// Examples as doubles; each device gets them in its own type.
struct Examples {
  int64_t count = 0;
  // By input, and by output of the model that has labels.
  std::vector<std::vector<double>> features;
  std::vector<std::vector<double>> labels;
  // The same, if the model has weights of examples.
  std::vector<std::vector<double>> weights = {};
  int64_t first_example = 0;
  int64_t epoch = 0;
  double loss_divisor = 1;
  double regularization_scale = 1;
};

// The results of a step.
struct StepResult {
  // In evaluation.
  std::vector<std::vector<double>> outputs;
  // In training: by variable of the graph, copied when the section that
  // completes their bucket had ended.
  std::vector<std::vector<double>> gradients;
  MetricSums sums;
};

// Owns what programs are compiled from. CHECK-fails on any error, except in
// TrySetBatch, since configs in tests are valid.
class ModelUnderTest {
 public:
  explicit ModelUnderTest(const ModelConfig& config,
                          const v1::Partitioner& partitioner = {},
                          int shard_count = 1,
                          const MayCut& may_cut = MayCutAll);
  ModelUnderTest(JobModel model, Precision precision,
                 const v1::Partitioner& partitioner, int shard_count,
                 const MayCut& may_cut = MayCutAll);

  const Graph& graph() const { return graph_; }
  const ShardPlan& plan() const { return plan_; }
  const BucketLayout& layout() const { return plan_.layout(); }
  ProgramSpec Spec(Mode mode, int64_t batch_size) const;

  // Values for the variables in (-1, 1), by the initializers' generator, but
  // not by the initializers; float32 represents them exactly.
  std::vector<std::vector<double>> SomeVariables() const;
  // The values in a job before its first step.
  std::vector<std::vector<double>> InitialVariables() const;
  // Features and labels generated in the same way; labels fit losses and
  // metrics.
  Examples SomeExamples(int64_t count) const;

 private:
  // Owns what an OutputSpec points to.
  static std::vector<Objective> MakeOutputs(const ModelConfig& config,
                                            const Graph& graph);
  // Everything but the outputs.
  ModelUnderTest(Graph graph, Precision precision,
                 const v1::Partitioner& partitioner, int shard_count,
                 const MayCut& may_cut);
  std::vector<double> SomeFeatures(size_t input, int64_t count) const;
  std::vector<double> SomeLabels(const OutputSpec& spec, int64_t count) const;

  Graph graph_;
  std::vector<Objective> outputs_;
  ShardPlan plan_;
  Precision precision_;
};

// A model's state and programs on a device. Each program is compiled once, so
// that a second step with its mode and batch size runs as in a trainer.
class ModelOnDevice {
 public:
  // All arguments must outlive the object. Without `all_reduce` there is a
  // single replica.
  ModelOnDevice(const ModelUnderTest& model, Device& device,
                StatisticsAllReduce* all_reduce = nullptr);

  void SetVariables(const std::vector<std::vector<double>>& variables);
  StepResult Train(const Examples& examples);
  StepResult Evaluate(const Examples& examples);
  // The outputs by a program without a loss, which gets no labels.
  std::vector<std::vector<double>> Predict(const Examples& examples);
  // Only sets the batch.
  absl::Status TrySetBatch(const Batch& batch, int64_t batch_size);

  DataType type() const { return state_->type(); }

 private:
  StepResult Run(Mode mode, const Examples& examples);
  std::vector<std::vector<double>> ReadOutputs(Program& program);
  Program& ProgramOf(const ProgramSpec& spec);
  void ReadGradients(int bucket, StepResult& result);
  // Expects that no later section changes gradients that were ready, since they
  // may already be on their way.
  void CheckUnchanged(absl::Span<const Section> sections,
                      const StepResult& result);
  void SpoilGradients();
  // A final bucket's variables may be overwritten, so nothing may read them.
  void SpoilVariables(int bucket);
  void RestoreVariables();

  const ModelUnderTest& model_;
  Device& device_;
  StatisticsAllReduce* const all_reduce_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<ModelState> state_;
  std::map<std::pair<Mode, int64_t>, std::unique_ptr<Program>> programs_;
  // By bucket that is spoiled.
  std::map<int, std::vector<std::byte>> spoiled_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_MODEL_UNDER_TEST_H_
