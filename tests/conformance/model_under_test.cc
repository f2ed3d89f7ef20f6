#include "tests/conformance/model_under_test.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/model/build_graph.h"
#include "common/model/class_weights.h"
#include "common/model/initializers/sampling.h"
#include "common/model/metric_layout.h"
#include "common/model/metric_object.h"
#include "common/model/philox.h"
#include "glog/logging.h"

namespace paceline {
namespace {

template <typename T>
T Unwrap(absl::StatusOr<T> value) {
  CHECK(value.ok()) << value.status();
  return *std::move(value);
}

void CheckOk(const absl::Status& status) { CHECK(status.ok()) << status; }

// Checks that each bucket is ready once and final once, not before it is ready.
void CheckSections(absl::Span<const Section> sections) {
  std::set<int> ready;
  std::set<int> final_buckets;
  for (const Section& section : sections) {
    for (const int bucket : section.ready_buckets) {
      CHECK(ready.insert(bucket).second) << "bucket " << bucket;
    }
    for (const int bucket : section.final_buckets) {
      CHECK_EQ(ready.count(bucket), 1u) << "bucket " << bucket;
      CHECK(final_buckets.insert(bucket).second) << "bucket " << bucket;
    }
  }
  CHECK(ready == final_buckets) << "a bucket is never final";
}

// The seed of initial values and dropout.
constexpr uint64_t kSeed = 3;

v1::KerasObject ObjectOf(const Value& value) {
  return Unwrap(ToProto(Unwrap(ReadKerasObject(value, Path())), Path()));
}

Graph GraphOf(const ModelConfig& config) {
  v1::Model layers;
  for (const Value& layer : config.layers.as_list()) {
    *layers.add_layers() =
        Unwrap(ToProto(Unwrap(ReadLayerObject(layer, Path())), Path()));
  }
  for (const OutputConfig& each : config.outputs) {
    layers.add_outputs(each.layer);
  }
  return Unwrap(BuildGraph(layers));
}

// Numbers in (-1, 1) with 20 bits: exact in float32, and far enough apart that
// rounding does not change which is larger.
std::vector<double> SomeNumbers(int64_t count, absl::string_view stream) {
  const uint64_t key = PhiloxKey({.seed = 7, .stream = StableHash(stream)});
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) {
    constexpr double kSteps = 1 << 19;
    const double unit = UniformSample(key, i);
    numbers.push_back((std::floor(unit * 2 * kSteps) + 0.5 - kSteps) / kSteps);
  }
  return numbers;
}

// A distinct name for each of several inputs or outputs.
std::string Numbered(const std::string& name, size_t index) {
  return index == 0 ? name : absl::StrCat(name, " ", index);
}

// Numbers in a device's type.
class TypedNumbers {
 public:
  TypedNumbers(const std::vector<double>& numbers, DataType type)
      : type_(type), bytes_(numbers.size() * SizeOf(type)) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      switch (type) {
        case DataType::kInt32:
          Put(i, static_cast<int32_t>(numbers[i]));
          break;
        case DataType::kFloat32:
          Put(i, static_cast<float>(numbers[i]));
          break;
        case DataType::kFloat64:
          Put(i, numbers[i]);
          break;
        default:
          LOG(FATAL) << "devices take no numbers of this type";
      }
    }
  }

  HostTensor tensor() const { return {type_, bytes_.data()}; }
  absl::Span<const std::byte> bytes() const { return bytes_; }

 private:
  template <typename T>
  void Put(size_t index, T number) {
    std::memcpy(&bytes_[index * sizeof(T)], &number, sizeof(T));
  }

  DataType type_;
  std::vector<std::byte> bytes_;
};

std::vector<HostTensor> TensorsOf(const std::vector<TypedNumbers>& numbers) {
  std::vector<HostTensor> tensors;
  for (const TypedNumbers& each : numbers) tensors.push_back(each.tensor());
  return tensors;
}

std::vector<double> ToDoubles(const void* data, DataType type, int64_t count) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(type == DataType::kFloat64
                          ? static_cast<const double*>(data)[i]
                          : double{static_cast<const float*>(data)[i]});
  }
  return numbers;
}

google::protobuf::RepeatedPtrField<v1::KerasObject> MetricObjectsOf(
    const Value& metrics) {
  google::protobuf::RepeatedPtrField<v1::KerasObject> objects;
  for (const Value& metric : metrics.as_list()) {
    *objects.Add() =
        Unwrap(ToProto(Unwrap(ReadMetricObject(metric, Path())), Path()));
  }
  return objects;
}

}  // namespace

ModelUnderTest::ModelUnderTest(const ModelConfig& config,
                               const v1::Partitioner& partitioner,
                               int shard_count, const MayCut& may_cut)
    : ModelUnderTest(GraphOf(config), config.precision, partitioner,
                     shard_count, may_cut) {
  outputs_ = MakeOutputs(config, graph_);
}

ModelUnderTest::ModelUnderTest(JobModel model, Precision precision,
                               const v1::Partitioner& partitioner,
                               int shard_count, const MayCut& may_cut)
    : ModelUnderTest(std::move(model.graph), precision, partitioner,
                     shard_count, may_cut) {
  outputs_ = std::move(model.objectives);
}

ModelUnderTest::ModelUnderTest(Graph graph, Precision precision,
                               const v1::Partitioner& partitioner,
                               int shard_count, const MayCut& may_cut)
    : graph_(std::move(graph)),
      plan_(Unwrap(ShardPlan::Make(graph_.variables, shard_count, partitioner,
                                   4, may_cut))),
      precision_(precision) {}

std::vector<Objective> ModelUnderTest::MakeOutputs(const ModelConfig& config,
                                                   const Graph& graph) {
  std::vector<OutputConfig> configs = config.outputs;
  if (configs.empty()) {
    configs = {{.loss = config.loss,
                .metrics = config.metrics,
                .weighted_metrics = config.weighted_metrics}};
  }
  std::vector<Objective> outputs;
  for (size_t i = 0; i < configs.size(); ++i) {
    const Shape& shape = graph.output_shape(i);
    Objective output = {.loss = nullptr,
                        .weight = configs[i].weight,
                        .class_weights = {},
                        .has_sample_weights = config.has_sample_weights,
                        .metrics = {}};
    if (!configs[i].loss.is_null()) {
      output.loss =
          Unwrap(MakeLoss(FromProto(ObjectOf(configs[i].loss)), Path("loss")));
      CheckOk(output.loss->CheckOutput(shape));
    }
    v1::Job job;
    job.mutable_class_weight()->insert(config.class_weight.begin(),
                                       config.class_weight.end());
    output.class_weights = Unwrap(ReadClassWeights(job, shape));
    const auto metrics = MetricObjectsOf(configs[i].metrics);
    const auto weighted = MetricObjectsOf(configs[i].weighted_metrics);
    output.metrics = Unwrap(MakeMetrics({metrics, Path("metrics")},
                                        {weighted, Path("weighted_metrics")},
                                        output.loss.get(), shape,
                                        /*prefix=*/""));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

ProgramSpec ModelUnderTest::Spec(Mode mode, int64_t batch_size) const {
  ProgramSpec spec = {.graph = &graph_,
                      .bucket_layout = &plan_.layout(),
                      .mode = mode,
                      .precision = precision_,
                      .batch_size = batch_size,
                      .seed = kSeed};
  spec.outputs = SpecsOf(outputs_);
  return spec;
}

std::vector<std::vector<double>> ModelUnderTest::SomeVariables() const {
  std::vector<std::vector<double>> variables;
  for (const VariableSpec& variable : graph().variables) {
    std::vector<double>& values = variables.emplace_back(
        SomeNumbers(NumElements(variable.shape), variable.name));
    // Moving variances must be positive.
    if (variable.is_trained()) continue;
    for (double& value : values) value = 0.25 + value * value;
  }
  return variables;
}

std::vector<std::vector<double>> ModelUnderTest::InitialVariables() const {
  std::vector<std::vector<double>> variables;
  for (const VariableSpec& variable : graph().variables) {
    std::vector<double>& values =
        variables.emplace_back(NumElements(variable.shape));
    variable.initializer->Fill(VariableKey(kSeed, variable.name),
                               variable.shape, /*begin=*/0,
                               absl::MakeSpan(values));
  }
  return variables;
}

Examples ModelUnderTest::SomeExamples(int64_t count) const {
  Examples examples;
  examples.count = count;
  examples.loss_divisor = static_cast<double>(count);
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    examples.features.push_back(SomeFeatures(i, count));
  }
  for (const OutputSpec& spec : SpecsOf(outputs_)) {
    examples.labels.push_back(SomeLabels(spec, count));
    if (!spec.has_sample_weights) continue;
    std::vector<double>& weights = examples.weights.emplace_back(
        SomeNumbers(count, Numbered("weights", spec.output)));
    for (double& weight : weights) weight += 1;
  }
  return examples;
}

std::vector<double> ModelUnderTest::SomeFeatures(size_t input,
                                                 int64_t count) const {
  const int64_t size = count * NumElements(graph_.input_shape(input));
  const int64_t ids = FeatureIdCount(graph_, input);
  if (ids == 0) return SomeNumbers(size, Numbered("features", input));
  std::vector<double> features;
  for (int64_t i = 0; i < size; ++i) {
    features.push_back(static_cast<double>((7 * i + 3) % ids));
  }
  return features;
}

std::vector<double> ModelUnderTest::SomeLabels(const OutputSpec& spec,
                                               int64_t count) const {
  const Shape& output = graph_.output_shape(spec.output);
  const int64_t size = NumElements(spec.LabelShape(output));
  std::vector<double> labels;
  if (spec.has_sparse_labels()) {
    const ClassIds classes = spec.LabelIds(output);
    for (int64_t i = 0; i < count * size; ++i) {
      const int64_t id = (3 * i + 1) % classes.count;
      labels.push_back(
          static_cast<double>(i % 3 == 1 ? classes.ignored.value_or(id) : id));
    }
    return labels;
  }
  // Probabilities; every other one is 0 or 1.
  labels = SomeNumbers(count * size, Numbered("labels", spec.output));
  for (size_t i = 0; i < labels.size(); ++i) {
    const double probability = (labels[i] + 1) / 2;
    labels[i] = i % 2 == 0 ? std::round(probability) : probability;
  }
  return labels;
}

ModelOnDevice::ModelOnDevice(const ModelUnderTest& model, Device& device,
                             StatisticsAllReduce* all_reduce)
    : model_(model),
      device_(device),
      all_reduce_(all_reduce),
      stream_(*device.CreateStream()),
      state_(Unwrap(device.CreateState(model.Spec(Mode::kTrain, 1)))) {}

void ModelOnDevice::SetVariables(
    const std::vector<std::vector<double>>& variables) {
  for (size_t i = 0; i < variables.size(); ++i) {
    const VariableLocation location =
        model_.layout().location(static_cast<int>(i));
    const TypedNumbers typed(variables[i], type());
    std::memcpy(&state_->host_variables(
                    location.bucket)[location.offset * SizeOf(type())],
                typed.bytes().data(), typed.bytes().size());
  }
  for (size_t bucket = 0; bucket < model_.layout().buckets().size(); ++bucket) {
    CheckOk(state_->UploadVariables(static_cast<int>(bucket), *stream_));
  }
}

StepResult ModelOnDevice::Train(const Examples& examples) {
  return Run(Mode::kTrain, examples);
}

StepResult ModelOnDevice::Evaluate(const Examples& examples) {
  return Run(Mode::kEvaluate, examples);
}

absl::Status ModelOnDevice::TrySetBatch(const Batch& batch,
                                        int64_t batch_size) {
  const auto program =
      Unwrap(device_.Compile(model_.Spec(Mode::kTrain, batch_size), *state_));
  return program->SetBatch(batch, *stream_);
}

StepResult ModelOnDevice::Run(Mode mode, const Examples& examples) {
  ProgramSpec spec = model_.Spec(mode, examples.count);
  spec.statistics_all_reduce = all_reduce_;
  std::vector<TypedNumbers> features;
  for (const auto& each : examples.features) {
    features.emplace_back(each, type());
  }
  std::vector<TypedNumbers> labels;
  for (size_t i = 0; i < examples.labels.size(); ++i) {
    const bool are_sparse = spec.outputs[i].has_sparse_labels();
    labels.emplace_back(examples.labels[i],
                        are_sparse ? DataType::kInt32 : type());
  }
  std::vector<TypedNumbers> weights;
  for (const auto& each : examples.weights) {
    weights.emplace_back(each, type());
  }
  Program& program = ProgramOf(spec);
  CHECK_EQ(program.batch_size(), examples.count);

  SpoilGradients();
  CheckOk(
      program.SetBatch({.count = examples.count,
                        .features = TensorsOf(features),
                        .labels = TensorsOf(labels),
                        .weights = TensorsOf(weights),
                        .first_example = examples.first_example,
                        .epoch = examples.epoch,
                        .loss_divisor = examples.loss_divisor,
                        .regularization_scale = examples.regularization_scale},
                       *stream_));
  CheckSections(program.sections());
  StepResult result;
  if (mode == Mode::kTrain) {
    result.gradients.resize(model_.graph().variables.size());
  }
  for (size_t i = 0; i < program.sections().size(); ++i) {
    const int section = static_cast<int>(i);
    CheckOk(program.Enqueue(section, *stream_));
    CheckOk(program.section_event(section).Wait());
    for (const int bucket : program.sections()[i].ready_buckets) {
      ReadGradients(bucket, result);
    }
    for (const int bucket : program.sections()[i].final_buckets) {
      SpoilVariables(bucket);
    }
  }
  CheckUnchanged(program.sections(), result);
  RestoreVariables();
  if (mode == Mode::kEvaluate) {
    result.outputs = ReadOutputs(program);
  }
  result.sums.states.resize(MetricLayout(spec.outputs).size());
  CheckOk(state_->TakeMetrics(*stream_, result.sums));
  return result;
}

std::vector<std::vector<double>> ModelOnDevice::Predict(
    const Examples& examples) {
  ProgramSpec spec = model_.Spec(Mode::kEvaluate, examples.count);
  spec.outputs.clear();
  CheckOk(device_.Supports(spec));
  const auto program = Unwrap(device_.Compile(spec, *state_));
  std::vector<TypedNumbers> features;
  for (const auto& each : examples.features) {
    features.emplace_back(each, type());
  }
  Batch batch;
  batch.count = examples.count;
  batch.features = TensorsOf(features);
  CheckOk(program->SetBatch(batch, *stream_));
  for (size_t i = 0; i < program->sections().size(); ++i) {
    CheckOk(program->Enqueue(static_cast<int>(i), *stream_));
  }
  return ReadOutputs(*program);
}

std::vector<std::vector<double>> ModelOnDevice::ReadOutputs(Program& program) {
  const std::vector<HostTensor> outputs = Unwrap(program.Outputs(*stream_));
  CHECK_EQ(outputs.size(), model_.graph().outputs.size());
  std::vector<std::vector<double>> numbers;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int64_t size = NumElements(model_.graph().output_shape(i));
    numbers.push_back(ToDoubles(outputs[i].data, outputs[i].type,
                                program.batch_size() * size));
  }
  return numbers;
}

Program& ModelOnDevice::ProgramOf(const ProgramSpec& spec) {
  std::unique_ptr<Program>& program = programs_[{spec.mode, spec.batch_size}];
  if (program == nullptr) program = Unwrap(device_.Compile(spec, *state_));
  return *program;
}

void ModelOnDevice::ReadGradients(int bucket, StepResult& result) {
  for (const int variable : model_.layout().buckets()[bucket].variables) {
    const VariableLocation location = model_.layout().location(variable);
    result.gradients[variable] = ToDoubles(
        &state_->host_gradients(bucket)[location.offset * SizeOf(type())],
        type(), NumElements(model_.graph().variables[variable].shape));
  }
}

void ModelOnDevice::CheckUnchanged(absl::Span<const Section> sections,
                                   const StepResult& result) {
  StepResult now;
  now.gradients.resize(result.gradients.size());
  for (const Section& section : sections) {
    for (const int bucket : section.ready_buckets) ReadGradients(bucket, now);
  }
  for (size_t i = 0; i < now.gradients.size(); ++i) {
    const auto is_same = [](double a, double b) {
      return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
    };
    CHECK(std::equal(now.gradients[i].begin(), now.gradients[i].end(),
                     result.gradients[i].begin(), result.gradients[i].end(),
                     is_same))
        << "a section changed a gradient that was ready: "
        << model_.graph().variables[i].name;
  }
}

void ModelOnDevice::SpoilVariables(int bucket) {
  const absl::Span<std::byte> values = state_->host_variables(bucket);
  spoiled_[bucket].assign(values.begin(), values.end());
  std::fill(values.begin(), values.end(), std::byte{0xff});
}

void ModelOnDevice::RestoreVariables() {
  for (const auto& [bucket, values] : spoiled_) {
    std::copy(values.begin(), values.end(),
              state_->host_variables(bucket).begin());
  }
  spoiled_.clear();
}

void ModelOnDevice::SpoilGradients() {
  // All bits set is NaN in float32 and float64. Those of frozen variables are
  // not written.
  for (size_t i = 0; i < model_.graph().variables.size(); ++i) {
    const VariableSpec& variable = model_.graph().variables[i];
    if (variable.update == VariableUpdate::kNone) continue;
    const VariableLocation location =
        model_.layout().location(static_cast<int>(i));
    std::memset(&state_->host_gradients(
                    location.bucket)[location.offset * SizeOf(type())],
                0xff, NumElements(variable.shape) * SizeOf(type()));
  }
}

}  // namespace paceline
