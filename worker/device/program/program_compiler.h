// Compiles a model into the operations of a program: forward, losses and
// metrics, backward.
//
// All devices share this walk over the graph. Each derives a compiler that
// defines its operations, and how to accumulate losses, metrics and penalties.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_PROGRAM_COMPILER_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_PROGRAM_COMPILER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/model/graph.h"
#include "common/model/loss.h"
#include "common/model/loss_input.h"
#include "common/model/lower_output.h"
#include "common/model/metric.h"
#include "common/model/metric_layout.h"
#include "common/model/output_spec.h"
#include "common/model/variable.h"
#include "common/operations/constant.h"
#include "common/operations/function.h"
#include "common/operations/rewrites/fuse_maps.h"
#include "worker/device/device.h"
#include "worker/device/program/add_calls.h"
#include "worker/device/program/example_function.h"
#include "worker/device/program/loss_inputs.h"
#include "worker/device/program/lower_node.h"
#include "worker/device/program/lowered_node.h"
#include "worker/device/program/node_function.h"
#include "worker/device/program/node_gradients.h"
#include "worker/device/program/operations/operation_table.h"
#include "worker/device/program/tensor.h"

namespace paceline {

template <typename Builder>
class ProgramCompiler {
 public:
  virtual ~ProgramCompiler() = default;

 protected:
  // `builder` must have been created for `spec`; both must outlive the
  // compiler.
  ProgramCompiler(const ProgramSpec& spec, Builder& builder)
      : spec_(spec),
        graph_(*spec.graph),
        builder_(builder),
        losses_(graph_, spec.outputs, spec.mode == Mode::kTrain),
        nodes_(graph_.nodes.size()),
        outputs_(graph_.nodes.size()),
        has_updates_(graph_.nodes.size()),
        output_gradients_(graph_.nodes.size()),
        gradients_before_activation_(graph_.nodes.size()) {}

  // Adds all operations; returns the model's outputs. Call it once.
  absl::StatusOr<std::vector<const Tensor*>> AddOperations() {
    RETURN_IF_ERROR(AddForward());
    RETURN_IF_ERROR(AddLosses());
    if (!spec_.outputs.empty()) {
      AddPenalties();
      AddActivityPenalties();
    }
    RETURN_IF_ERROR(AddMetrics());
    if (builder_.is_training()) RETURN_IF_ERROR(AddBackward());
    std::vector<const Tensor*> outputs;
    for (const int output : graph_.outputs) outputs.push_back(outputs_[output]);
    return outputs;
  }

  const ProgramSpec& spec() const { return spec_; }
  Builder& builder() const { return builder_; }

  // --- For the device to define. Offsets are those of MetricLayout. ---

  // Whether the node stores its output in the compute type; see
  // NodeFunctionSpec.
  virtual bool StoresComputeType(const Node& /*node*/) const { return false; }

  // Runs `add`, which adds a layer's operations; returns its error.
  virtual absl::Status AddLayer(const Layer& layer,
                                absl::FunctionRef<void()> add) = 0;

  // The device's name in errors.
  virtual absl::string_view device() const = 0;
  virtual absl::Span<const OperationEntry<Builder>> operations() const = 0;

  // Adds weight · Σ `values` (one value per example) to the total at `offset`,
  // and `examples` to the count after it.
  virtual void AddToMean(size_t offset, Tensor* values, double weight,
                         int64_t examples) = 0;
  // Adds each of `values` to the state that begins at `offset`.
  virtual void AddToState(size_t offset, Tensor* values) = 0;

  // The factor of each example's loss of an output with this weight, by which
  // its gradient is scaled: shape (batch), with equal elements, written in each
  // step.
  virtual Tensor* AddGradientScales(double weight) = 0;

  // Adds a variable's penalty to the loss, once per example.
  virtual void AddPenalty(const Regularizer& regularizer, Tensor* variable) = 0;

 private:
  // The options for lowering a node.
  NodeFunctionSpec FunctionSpecOf(int index) const {
    const Node& node = graph_.nodes[index];
    const LossReads& loss_reads = losses_.of_node(index);
    return {
        .batch_size = spec_.batch_size,
        .is_training = builder_.is_training(),
        .seed = spec_.seed,
        .has_output_gradient =
            loss_reads.depends_on_output || !loss_reads.reads_before_activation,
        .has_gradient_before_activation = loss_reads.reads_before_activation,
        .wants_input_gradients =
            std::any_of(node.inputs.begin(), node.inputs.end(),
                        [this](int input) { return has_updates_[input]; }),
        .stores_compute_type = StoresComputeType(node)};
  }

  absl::Status AddForward() {
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      outputs_[graph_.inputs[i]] = builder_.features(i);
    }
    for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
      const Node& node = graph_.nodes[i];
      if (node.inputs.empty() || IsUnreadPenalty(node)) continue;
      ASSIGN_OR_RETURN(
          NodeFunction function,
          LowerNode(device(), operations(), graph_, node, FunctionSpecOf(i)));
      nodes_[i] = std::make_unique<LoweredNode>(node, std::move(function));
      std::vector<Tensor*> inputs;
      bool has_updates = std::any_of(
          node.variables.begin(), node.variables.end(), [this](int variable) {
            return graph_.variables[variable].update != VariableUpdate::kNone;
          });
      for (const int input : node.inputs) {
        inputs.push_back(outputs_[input]);
        has_updates = has_updates || has_updates_[input];
      }
      has_updates_[i] = has_updates && !node.layer->is_mask();
      BeginLayer(i);
      RETURN_IF_ERROR(AddLayer(*node.layer, [&] {
        outputs_[i] = nodes_[i]->AddForward(inputs, builder_);
      }));
    }
    return absl::OkStatus();
  }

  // Whether it is a penalty in a program without losses.
  bool IsUnreadPenalty(const Node& node) const {
    return spec_.outputs.empty() && node.layer->is_penalty();
  }

  // Examples are counted once, no matter how many losses there are.
  absl::Status AddLosses() {
    builder_.BeginPart("loss", /*in_float32=*/true);
    bool is_first = true;
    for (size_t i = 0; i < spec_.outputs.size(); ++i) {
      if (spec_.outputs[i].loss == nullptr) continue;
      const double weight = spec_.outputs[i].weight;
      const LossInput& from = losses_.input(i);
      const bool has_gradient =
          builder_.is_training() && has_updates_[from.node];
      ASSIGN_OR_RETURN(
          const std::vector<Tensor*> results,
          AddLoss(i, has_gradient ? AddGradientScales(weight) : nullptr));
      AddToMean(/*offset=*/0, results[0], weight,
                std::exchange(is_first, false) ? spec_.batch_size : 0);
      if (!has_gradient) continue;
      (from.before_activation ? gradients_before_activation_
                              : output_gradients_)
          .Add(from.node, {results[1]});
    }
    return absl::OkStatus();
  }

  // Adds the loss of an output, by OutputSpec. Returns the losses of the
  // examples; if `scales` is not null, also the gradient with respect to the
  // loss's input.
  absl::StatusOr<std::vector<Tensor*>> AddLoss(size_t spec, Tensor* scales) {
    const LossInput& from = losses_.input(spec);
    std::vector<Tensor*> parameters = ParametersOf(TensorOf(from), spec);
    const ExampleFunction function =
        MakeLossFunction(spec_.outputs[spec], builder_.is_training(),
                         from.from_logits, ShapesOf(parameters, spec),
                         /*has_gradient=*/scales != nullptr);
    RETURN_IF_ERROR(Check(OwnerName(*spec_.outputs[spec].loss), *function));
    if (scales != nullptr) parameters.push_back(scales);
    return AddCalls(*function, parameters, builder_);
  }

  Tensor* TensorOf(const LossInput& from) const {
    return from.before_activation ? nodes_[from.node]->before_activation()
                                  : outputs_[from.node];
  }

  // The node of the mask of an output, by OutputSpec; -1: it has none.
  int MaskOf(size_t spec) const {
    return graph_.output_masks[spec_.outputs[spec].output];
  }

  // The parameters of an ExampleFunction that reads `input`.
  std::vector<Tensor*> ParametersOf(Tensor* input, size_t spec) const {
    std::vector<Tensor*> parameters = {input, builder_.labels(spec)};
    if (const int mask = MaskOf(spec); mask >= 0) {
      parameters.push_back(outputs_[mask]);
    }
    if (spec_.outputs[spec].has_sample_weights) {
      parameters.push_back(builder_.weights(spec));
    }
    return parameters;
  }

  ExampleShapes ShapesOf(const std::vector<Tensor*>& parameters,
                         size_t spec) const {
    ExampleShapes shapes = {.input = parameters[0]->shape,
                            .labels = parameters[1]->shape};
    if (MaskOf(spec) >= 0) shapes.mask = parameters[2]->shape;
    if (spec_.outputs[spec].has_sample_weights) {
      shapes.weights = parameters.back()->shape;
    }
    return shapes;
  }

  absl::Status Check(absl::string_view owner,
                     const op::Function& function) const {
    return CheckOperations(device(), operations(), owner, function);
  }

  void AddPenalties() {
    for (size_t i = 0; i < graph_.variables.size(); ++i) {
      const Regularizer& regularizer = graph_.variables[i].regularizer;
      if (regularizer.is_zero()) continue;
      AddPenalty(regularizer, builder_.variable(static_cast<int>(i)));
    }
  }

  // The penalty of each example counts as a loss of the example does, with
  // weight 1.
  void AddActivityPenalties() {
    for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
      if (!graph_.nodes[i].layer->is_penalty()) continue;
      AddToMean(/*offset=*/0, outputs_[i], /*weight=*/1, /*examples=*/0);
      if (!builder_.is_training() || !has_updates_[i]) continue;
      output_gradients_.Add(i, {AddGradientScales(/*weight=*/1)});
    }
  }

  absl::Status AddMetrics() {
    const MetricLayout layout(spec_.outputs);
    size_t next = 0;
    for (size_t i = 0; i < spec_.outputs.size(); ++i) {
      for (const auto& metric : spec_.outputs[i].metrics) {
        builder_.BeginPart(absl::StrCat("metric ", metric->name),
                           /*in_float32=*/true);
        RETURN_IF_ERROR(AddMetric(*metric, i, layout.offset(next++)));
      }
    }
    return absl::OkStatus();
  }

  // Adds the metric of an output, by OutputSpec.
  absl::Status AddMetric(const Metric& metric, size_t spec, size_t offset) {
    ASSIGN_OR_RETURN(Tensor* const values, AddMetricValues(metric, spec));
    if (IsMeanOfExamples(metric, MaskOf(spec) >= 0)) {
      AddToMean(offset, values, /*weight=*/1, spec_.batch_size);
    } else {
      AddToState(offset, values);
    }
    return absl::OkStatus();
  }

  // Returns the result of LowerMetric.
  absl::StatusOr<Tensor*> AddMetricValues(const Metric& metric, size_t spec) {
    const int node = graph_.outputs[spec_.outputs[spec].output];
    LossInput from = {.node = node};
    if (const Loss* const loss = metric.mean_of(); loss != nullptr) {
      from = ResolveLossInput(graph_, node, *loss, builder_.is_training());
    }
    const std::vector<Tensor*> parameters = ParametersOf(TensorOf(from), spec);
    const ExampleFunction function =
        MakeMetricFunction(spec_.outputs[spec], metric, builder_.is_training(),
                           from.from_logits, ShapesOf(parameters, spec));
    RETURN_IF_ERROR(Check(OwnerName(metric), *function));
    return AddCalls(*function, parameters, builder_)[0];
  }

  // Adds backward for the nodes that have updates in them or before them, the
  // last node first. Nodes with statistics are included, since replicas with
  // synchronized statistics all-reduce gradients in each step.
  absl::Status AddBackward() {
    for (int i = static_cast<int>(graph_.nodes.size()) - 1; i >= 0; --i) {
      if (!output_gradients_.has(i) && !gradients_before_activation_.has(i)) {
        AddZeroGradients(i);
        continue;
      }
      const Node& node = graph_.nodes[i];
      std::vector<bool> wants_inputs;
      for (const int input : node.inputs) {
        wants_inputs.push_back(has_updates_[input]);
      }
      BeginLayer(i);
      RETURN_IF_ERROR(AddLayer(*node.layer, [&] {
        const OutputGradient output = output_gradients_.TakeSum(i, builder_);
        const OutputGradient before_activation =
            gradients_before_activation_.TakeSum(i, builder_);
        const std::vector<OutputGradient> of_inputs = nodes_[i]->AddBackward(
            output, before_activation, wants_inputs, builder_);
        for (size_t k = 0; k < node.inputs.size(); ++k) {
          if (!wants_inputs[k]) continue;
          output_gradients_.Add(node.inputs[k], of_inputs[k]);
        }
      }));
    }
    return absl::OkStatus();
  }

  // Adds 0 to the gradients of the variables of a node that no loss depends on.
  void AddZeroGradients(int node) {
    for (const int index : graph_.nodes[node].variables) {
      const VariableSpec& variable = graph_.variables[index];
      if (!variable.is_trained()) continue;
      BeginLayer(node);
      op::Function function;
      function.AddResult(op::Full(
          function, {DataType::kFloat32, variable.shape}, /*value=*/0));
      Tensor* const part = builder_.NewGradientPart(index);
      const Tensor* const zeros =
          AddCalls(*op::FuseMaps(function), {}, builder_, {part})[0];
      if (zeros->memory != part->memory) builder_.AddCopy(zeros, part);
      builder_.FinishGradient(index, part);
      builder_.FinishReads(index);
    }
  }

  // Keras advises to compute the last layers in float32, since exp and log lose
  // too much precision in fewer bits. So the input of a loss is float32, and so
  // is the model's output.
  void BeginLayer(int node) {
    const Layer& layer = *graph_.nodes[node].layer;
    builder_.BeginPart(absl::StrCat("layer ", layer.name),
                       losses_.of_node(node).is_in_float32);
  }

  const ProgramSpec& spec_;
  const Graph& graph_;
  Builder& builder_;
  const LossInputs losses_;
  // By node. Null for the model's inputs, and for a penalty without a loss.
  std::vector<std::unique_ptr<LoweredNode>> nodes_;
  std::vector<Tensor*> outputs_;
  // By node: whether a step updates variables of it or of a node before it, to
  // which gradients pass.
  std::vector<bool> has_updates_;
  NodeGradients output_gradients_;
  NodeGradients gradients_before_activation_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_PROGRAM_COMPILER_H_
