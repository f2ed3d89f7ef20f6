#include "worker/device/cuda/program_compiler.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/model/loss_input.h"
#include "worker/device/cuda/device_update.h"
#include "worker/device/cuda/losses.h"
#include "worker/device/cuda/metrics.h"
#include "worker/device/cuda/node_computation.h"

namespace paceline::cuda {
namespace {

class ProgramCompiler {
 public:
  ProgramCompiler(const ProgramSpec& spec, CudaState& state)
      : spec_(spec),
        graph_(*spec.graph),
        state_(state),
        builder_(spec, state) {}

  absl::StatusOr<ProgramParts> Compile() {
    if (spec_.batch_size == 0) {
      DeviceUpdate(builder_, state_).AddWithoutGradients();
      return std::move(builder_).Build(builder_.features());
    }
    RETURN_IF_ERROR(AddForward());
    Tensor* gradient = nullptr;
    const LossInput loss_input = ResolveLossInput(graph_, *spec_.loss);
    if (builder_.is_training()) {
      gradient = builder_.NewTensor(outputs_[graph_.output]->shape);
    }
    RETURN_IF_ERROR(AddLoss(*spec_.loss, loss_input, 0, gradient));
    AddPenalties();
    RETURN_IF_ERROR(AddMetrics());
    if (builder_.is_training()) {
      AddBackward({gradient, loss_input.before_activation});
      if (spec_.optimizer != nullptr) DeviceUpdate(builder_, state_).Add();
    }
    return std::move(builder_).Build(outputs_[graph_.output]);
  }

 private:
  double batch_size() const { return static_cast<double>(spec_.batch_size); }

  absl::Status AddForward() {
    outputs_ = {builder_.features()};
    computations_.emplace_back();
    has_variables_ = {false};
    for (size_t i = 1; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      ASSIGN_OR_RETURN(computations_.emplace_back(),
                       MakeNodeComputation(graph_, node));
      outputs_.push_back(
          computations_.back()->AddForward(outputs_[node.inputs[0]], builder_));
      has_variables_.push_back(has_variables_[node.inputs[0]] ||
                               !node.variables.empty());
    }
    return absl::OkStatus();
  }

  // Sums a loss up in element `index` of the metrics, and writes its gradient
  // unless that is null.
  absl::Status AddLoss(const Loss& loss, const LossInput& loss_input,
                       size_t index, Tensor* gradient) {
    ASSIGN_OR_RETURN(
        const LossKernel kernel,
        MakeLossKernel(loss, loss_input.from_logits, graph_.output_shape()));
    Tensor* const input =
        loss_input.before_activation
            ? computations_[graph_.output]->before_activation()
            : outputs_[graph_.output];
    Tensor* const labels = builder_.labels();
    Tensor* const values =
        builder_.NewTensor({spec_.batch_size}, sizeof(double));
    std::vector<const Tensor*> used = {input, labels, values};
    if (gradient != nullptr) used.push_back(gradient);
    builder_.AddKernel(used, spec_.batch_size, [=, step = builder_.step()] {
      return kernel({step, input->floats(), labels->as<void>(),
                     values->doubles(),
                     gradient == nullptr ? nullptr : gradient->floats()});
    });
    builder_.AddToMetrics(index, values, 1, batch_size());
    return absl::OkStatus();
  }

  // Regularization counts in the loss, once an example.
  void AddPenalties() {
    for (size_t i = 0; i < graph_.variables.size(); ++i) {
      const Regularizer& regularizer = graph_.variables[i].regularizer;
      if (regularizer.l1 == 0 && regularizer.l2 == 0) continue;
      Tensor* const variable = builder_.variable(static_cast<int>(i));
      const int64_t count = variable->count();
      const int64_t parts = PartCount(count);
      Tensor* const sums = builder_.NewTensor({parts}, sizeof(double));
      builder_.AddKernel({sums}, parts, [=] {
        return PenaltySums{regularizer.l1, regularizer.l2,     count,
                           parts,          variable->floats(), sums->doubles()};
      });
      builder_.AddToMetrics(0, sums, batch_size(), /*examples=*/0);
    }
  }

  absl::Status AddMetrics() {
    for (size_t i = 0; i < spec_.metrics.size(); ++i) {
      const Metric& metric = *spec_.metrics[i];
      // The loss is element 0.
      const size_t index = i + 1;
      if (const Loss* loss = metric.mean_of(); loss != nullptr) {
        RETURN_IF_ERROR(AddLoss(*loss, ResolveLossInput(graph_, *loss), index,
                                /*gradient=*/nullptr));
        continue;
      }
      ASSIGN_OR_RETURN(const MetricKernel kernel,
                       MakeMetricKernel(metric, graph_.output_shape()));
      Tensor* const output = outputs_[graph_.output];
      Tensor* const labels = builder_.labels();
      Tensor* const values =
          builder_.NewTensor({spec_.batch_size}, sizeof(double));
      builder_.AddKernel({output, values}, spec_.batch_size, [=] {
        return kernel(
            {output->floats(), labels->as<void>(), values->doubles()});
      });
      builder_.AddToMetrics(index, values, 1, batch_size());
    }
    return absl::OkStatus();
  }

  // Down to the first layer with variables.
  void AddBackward(OutputGradient gradient) {
    for (int i = graph_.output; has_variables_[i];) {
      const int input = graph_.nodes[i].inputs[0];
      gradient = {computations_[i]->AddBackward(
          gradient, /*wants_input=*/has_variables_[input], builder_)};
      i = input;
    }
  }

  const ProgramSpec& spec_;
  const Graph& graph_;
  CudaState& state_;
  ProgramBuilder builder_;
  // Of each node; the input has no computation.
  std::vector<std::unique_ptr<NodeComputation>> computations_;
  std::vector<Tensor*> outputs_;
  // Whether a node or one before it has variables.
  std::vector<bool> has_variables_;
};

}  // namespace

absl::Status CheckGraph(const Graph& graph) {
  for (size_t i = 1; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.inputs != std::vector<int>{static_cast<int>(i) - 1}) {
      return absl::UnimplementedError(absl::StrCat(
          "layer ", node.layer->name,
          ": the cuda device computes stacks of layers, each reading the one "
          "before it"));
    }
    if (!node.layer->trainable) {
      return absl::UnimplementedError(
          absl::StrCat("layer ", node.layer->name,
                       ": the cuda device computes no frozen layers"));
    }
    RETURN_IF_ERROR(MakeNodeComputation(graph, node).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<ProgramParts> CompileProgram(const ProgramSpec& spec,
                                            CudaState& state) {
  return ProgramCompiler(spec, state).Compile();
}

}  // namespace paceline::cuda
