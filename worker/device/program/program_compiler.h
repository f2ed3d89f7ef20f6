// From a model to the operations of a program: forward, loss and metrics,
// backward.
//
// The walk over the graph is that of every device; each derives a compiler that
// has its operations and adds up losses, metrics and penalties.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_PROGRAM_COMPILER_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_PROGRAM_COMPILER_H_

#include <algorithm>
#include <cstddef>
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
#include "common/model/metric.h"
#include "common/model/metric_layout.h"
#include "common/model/variable.h"
#include "worker/device/device.h"
#include "worker/device/program/example_function.h"
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
  // `builder` is that of `spec`; both outlive this.
  ProgramCompiler(const ProgramSpec& spec, Builder& builder)
      : spec_(spec),
        graph_(*spec.graph),
        builder_(builder),
        loss_input_(
            ResolveLossInput(graph_, *spec.loss, spec.mode == Mode::kTrain)),
        gradients_(graph_.nodes.size()) {}

  // Adds all operations; returns the model's output. To be called once.
  absl::StatusOr<const Tensor*> AddOperations() {
    RETURN_IF_ERROR(AddForward());
    builder_.BeginPart("loss", /*in_float32=*/true);
    const bool has_backward =
        builder_.is_training() && has_updates_[loss_input_.node];
    ASSIGN_OR_RETURN(Tensor* const gradient,
                     AddLoss(*spec_.loss, loss_input_, 0, has_backward));
    AddPenalties();
    RETURN_IF_ERROR(AddMetrics());
    if (has_backward) {
      RETURN_IF_ERROR(AddBackward({gradient, loss_input_.before_activation}));
    }
    return output();
  }

  const ProgramSpec& spec() const { return spec_; }
  Builder& builder() const { return builder_; }

  // --- The part of a device. Offsets are those of MetricLayout. ---

  // NodeFunctionSpec::stores_factors.
  virtual bool StoresFactors(const Node& /*node*/) const { return false; }

  // Runs `add`, which adds operations of a layer.
  virtual absl::Status AddLayer(const Layer& layer,
                                absl::FunctionRef<void()> add) = 0;

  // As errors call it.
  virtual absl::string_view device() const = 0;
  virtual absl::Span<const OperationEntry<Builder>> operations() const = 0;

  // Adds `values`, one an example, to the total at `offset`, and their number
  // to the count behind it.
  virtual void AddToMean(size_t offset, Tensor* values) = 0;
  // Adds each of `values` to the states from `offset` on.
  virtual void AddToState(size_t offset, Tensor* values) = 0;

  // Of shape (batch), written in each step: what the loss of an example is
  // multiplied with before its gradient is taken, the same for all.
  virtual Tensor* AddGradientScales() = 0;

  // Adds a variable's penalty to the loss, once an example.
  virtual void AddPenalty(const Regularizer& regularizer, Tensor* variable) = 0;

 private:
  // What a node of the graph is lowered for.
  NodeFunctionSpec FunctionSpecOf(const Node& node) const {
    return {.batch_size = spec_.batch_size,
            .is_training = builder_.is_training(),
            .seed = spec_.seed,
            .has_gradient_before_activation =
                loss_input_.before_activation &&
                &node == &graph_.nodes[loss_input_.node],
            .wants_input_gradients =
                std::any_of(node.inputs.begin(), node.inputs.end(),
                            [this](int input) { return has_updates_[input]; }),
            .stores_factors = StoresFactors(node)};
  }

  Tensor* output() const { return outputs_[graph_.output]; }

  absl::Status AddForward() {
    outputs_ = {builder_.features()};
    nodes_.emplace_back();
    has_updates_ = {false};
    for (int i = 1; i < static_cast<int>(graph_.nodes.size()); ++i) {
      const Node& node = graph_.nodes[i];
      ASSIGN_OR_RETURN(NodeFunction function,
                       LowerNode(device(), operations(), graph_, node,
                                 FunctionSpecOf(node)));
      nodes_.push_back(
          std::make_unique<LoweredNode>(node, std::move(function)));
      std::vector<Tensor*> inputs;
      bool has_updates = std::any_of(
          node.variables.begin(), node.variables.end(), [this](int variable) {
            return graph_.variables[variable].update != VariableUpdate::kNone;
          });
      for (const int input : node.inputs) {
        inputs.push_back(outputs_[input]);
        has_updates = has_updates || has_updates_[input];
      }
      has_updates_.push_back(has_updates);
      BeginLayer(i);
      RETURN_IF_ERROR(AddLayer(*node.layer, [&] {
        outputs_.push_back(nodes_.back()->AddForward(inputs, builder_));
      }));
    }
    return absl::OkStatus();
  }

  // Adds a loss up at `offset`; returns its gradient by what it reads, or null.
  absl::StatusOr<Tensor*> AddLoss(const Loss& loss, const LossInput& from,
                                  size_t offset, bool has_gradient) {
    Tensor* const input = from.before_activation
                              ? nodes_[from.node]->before_activation()
                              : outputs_[from.node];
    Tensor* const labels = builder_.labels();
    const ExampleFunction function = MakeLossFunction(
        loss, from.from_logits, input->shape, labels->shape, has_gradient);
    RETURN_IF_ERROR(Check(OwnerName(loss), *function));
    std::vector<Tensor*> parameters = {input, labels};
    if (has_gradient) parameters.push_back(AddGradientScales());
    const std::vector<Tensor*> results =
        AddCalls(*function, parameters, builder_);
    AddToMean(offset, results[0]);
    return has_gradient ? results[1] : nullptr;
  }

  absl::Status Check(absl::string_view owner,
                     const op::Function& function) const {
    return CheckOperations(device(), operations(), owner, function);
  }

  void AddPenalties() {
    for (size_t i = 0; i < graph_.variables.size(); ++i) {
      const Regularizer& regularizer = graph_.variables[i].regularizer;
      if (regularizer.l1 == 0 && regularizer.l2 == 0) continue;
      AddPenalty(regularizer, builder_.variable(static_cast<int>(i)));
    }
  }

  absl::Status AddMetrics() {
    const MetricLayout layout(spec_.metrics);
    for (size_t i = 0; i < spec_.metrics.size(); ++i) {
      const Metric& metric = *spec_.metrics[i];
      builder_.BeginPart(absl::StrCat("metric ", metric.name),
                         /*in_float32=*/true);
      if (const Loss* loss = metric.mean_of(); loss != nullptr) {
        const LossInput from =
            ResolveLossInput(graph_, *loss, builder_.is_training());
        RETURN_IF_ERROR(
            AddLoss(*loss, from, layout.offset(i), /*has_gradient=*/false)
                .status());
      } else {
        RETURN_IF_ERROR(AddMetric(metric, layout.offset(i)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddMetric(const Metric& metric, size_t offset) {
    const ExampleFunction function =
        MakeMetricFunction(metric, output()->shape, builder_.labels()->shape);
    RETURN_IF_ERROR(Check(OwnerName(metric), *function));
    Tensor* const values =
        AddCalls(*function, {output(), builder_.labels()}, builder_)[0];
    if (metric.is_mean()) {
      AddToMean(offset, values);
    } else {
      AddToState(offset, values);
    }
    return absl::OkStatus();
  }

  // Of the nodes with updates at or before them, the last first: statistics
  // too, as replicas that share them sum gradients in each step.
  absl::Status AddBackward(OutputGradient gradient) {
    gradients_.Add(loss_input_.node, gradient);
    for (int i = loss_input_.node; i > 0; --i) {
      if (!gradients_.has(i)) continue;
      const Node& node = graph_.nodes[i];
      std::vector<bool> wants_inputs;
      for (const int input : node.inputs) {
        wants_inputs.push_back(has_updates_[input]);
      }
      BeginLayer(i);
      RETURN_IF_ERROR(AddLayer(*node.layer, [&] {
        const std::vector<OutputGradient> of_inputs = nodes_[i]->AddBackward(
            gradients_.TakeSum(i, builder_), wants_inputs, builder_);
        for (size_t k = 0; k < node.inputs.size(); ++k) {
          if (wants_inputs[k]) gradients_.Add(node.inputs[k], of_inputs[k]);
        }
      }));
    }
    return absl::OkStatus();
  }

  // What the loss is taken of is float32, as Keras advises, and the output
  // behind it: exp and log of fewer bits lose too much.
  void BeginLayer(int node) {
    const Layer& layer = *graph_.nodes[node].layer;
    builder_.BeginPart(absl::StrCat("layer ", layer.name),
                       /*in_float32=*/node >= loss_input_.node);
  }

  const ProgramSpec& spec_;
  const Graph& graph_;
  Builder& builder_;
  const LossInput loss_input_;
  // Null for the input.
  std::vector<std::unique_ptr<LoweredNode>> nodes_;
  std::vector<Tensor*> outputs_;
  // Whether a step updates variables of a node or of one before it.
  std::vector<bool> has_updates_;
  NodeGradients gradients_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_PROGRAM_COMPILER_H_
