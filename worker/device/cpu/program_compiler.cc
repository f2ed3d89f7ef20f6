#include "worker/device/cpu/program_compiler.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/model/loss_input.h"
#include "common/model/variable.h"
#include "glog/logging.h"
#include "worker/device/cpu/kernels/arithmetic.h"
#include "worker/device/cpu/kernels/regularization.h"
#include "worker/device/cpu/losses/loss_kernel.h"
#include "worker/device/cpu/metrics/metric_kernel.h"
#include "worker/device/cpu/node_computation.h"
#include "worker/device/cpu/parallel.h"

namespace paceline::cpu {
namespace {

// Runs `add`, which adds the operations of a layer.
template <typename Add>
absl::Status CatchErrors(const Layer& layer, const Add& add) {
  try {
    add();
    return absl::OkStatus();
  } catch (const dnnl::error& error) {
    const std::string message =
        absl::StrCat("layer ", layer.name, ": oneDNN: ", error.what());
    switch (error.status) {
      case dnnl_out_of_memory:
        return absl::ResourceExhaustedError(message);
      case dnnl_unimplemented:
        return absl::UnimplementedError(message);
      default:
        return absl::InternalError(message);
    }
  }
}

// Adds what a batch sums up to element `index` of the metrics.
void AddToMetrics(const Step& step, size_t index, const Tensor& values) {
  const auto* of_example = reinterpret_cast<const double*>(values.data());
  double sum = 0;
  for (int64_t i = 0; i < values.count(); ++i) sum += of_example[i];
  step.metrics->totals[index] += sum;
  step.metrics->counts[index] += static_cast<double>(values.count());
}

class ProgramCompiler {
 public:
  ProgramCompiler(const ProgramSpec& spec, CpuState& state,
                  const dnnl::engine& engine)
      : spec_(spec), graph_(*spec.graph), builder_(spec, state, engine) {}

  absl::StatusOr<ProgramParts> Compile() {
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
      RETURN_IF_ERROR(AddBackward({gradient, loss_input.before_activation}));
    }
    return std::move(builder_).Build(outputs_[graph_.output]);
  }

 private:
  absl::Status AddForward() {
    outputs_ = {builder_.features()};
    computations_.emplace_back();
    has_updates_ = {false};
    for (size_t i = 1; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      ASSIGN_OR_RETURN(computations_.emplace_back(),
                       MakeNodeComputation(graph_, node));
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
      RETURN_IF_ERROR(CatchErrors(*node.layer, [&] {
        outputs_.push_back(
            computations_.back()->AddNodeForward(inputs, builder_));
      }));
    }
    return absl::OkStatus();
  }

  // What a loss reads.
  Tensor* InputOf(const LossInput& input) const {
    return input.before_activation
               ? computations_[graph_.output]->before_activation()
               : outputs_[graph_.output];
  }

  // Sums a loss up in element `index` of the metrics, and writes its gradient
  // unless that is null.
  absl::Status AddLoss(const Loss& loss, const LossInput& loss_input,
                       size_t index, Tensor* gradient) {
    ASSIGN_OR_RETURN(
        std::unique_ptr<const LossKernel> kernel,
        MakeLossKernel(loss, loss_input.from_logits, graph_.output_shape()));
    Tensor* const input = InputOf(loss_input);
    Tensor* const labels = builder_.labels();
    Tensor* const values =
        builder_.NewTensor({spec_.batch_size}, DataType::kFloat64);
    std::vector<const Tensor*> used = {input, labels, values};
    if (gradient != nullptr) used.push_back(gradient);
    builder_.Add(used, [kernel = std::move(kernel), input, labels, values,
                        gradient, index](const Step& step) {
      const int64_t count = values->count();
      ParallelFor(
          count, input->count() / count, [&](int64_t begin, int64_t end) {
            kernel->Run({.begin = begin,
                         .end = end,
                         .outputs = input->floats(),
                         .labels = labels->data(),
                         .values = reinterpret_cast<double*>(values->data()),
                         .gradients =
                             gradient == nullptr ? nullptr : gradient->floats(),
                         .gradient_scale = 1 / step.batch.loss_divisor});
          });
      AddToMetrics(step, index, *values);
    });
    return absl::OkStatus();
  }

  // Regularization counts in the loss, once an example.
  void AddPenalties() {
    for (size_t i = 0; i < graph_.variables.size(); ++i) {
      const Regularizer& regularizer = graph_.variables[i].regularizer;
      if (regularizer.l1 == 0 && regularizer.l2 == 0) continue;
      builder_.Add(
          {}, [regularizer, variable = builder_.variable(static_cast<int>(i))](
                  const Step& step) {
            step.metrics->totals[0] +=
                static_cast<double>(step.batch.count) *
                PenaltyOf(regularizer, variable->count(), variable->floats());
          });
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
      ASSIGN_OR_RETURN(std::unique_ptr<const MetricKernel> kernel,
                       MakeMetricKernel(metric, graph_.output_shape()));
      AddMetric(std::move(kernel), index);
    }
    return absl::OkStatus();
  }

  void AddMetric(std::unique_ptr<const MetricKernel> kernel, size_t index) {
    Tensor* const output = outputs_[graph_.output];
    Tensor* const labels = builder_.labels();
    Tensor* const values =
        builder_.NewTensor({spec_.batch_size}, DataType::kFloat64);
    builder_.Add(
        {output, labels, values}, [kernel = std::move(kernel), output, labels,
                                   values, index](const Step& step) {
          auto* const of_example = reinterpret_cast<double*>(values->data());
          const int64_t count = values->count();
          ParallelFor(
              count, output->count() / count, [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  of_example[i] =
                      kernel->ValueOf(i, output->floats(), labels->data());
                }
              });
          AddToMetrics(step, index, *values);
        });
  }

  // Of the nodes with updates at or before them, the last first: statistics
  // too, as replicas that share them sum gradients in each step.
  absl::Status AddBackward(OutputGradient gradient) {
    gradients_.resize(graph_.nodes.size());
    if (!has_updates_[graph_.output]) return absl::OkStatus();
    AddGradient(graph_.output, gradient);
    for (int i = graph_.output; i > 0; --i) {
      if (gradients_[i].empty()) continue;
      const Node& node = graph_.nodes[i];
      std::vector<bool> wants_inputs;
      for (const int input : node.inputs) {
        wants_inputs.push_back(has_updates_[input]);
      }
      RETURN_IF_ERROR(CatchErrors(*node.layer, [&] {
        const std::vector<OutputGradient> of_inputs =
            computations_[i]->AddNodeBackward(TakeGradient(i), wants_inputs,
                                              builder_);
        for (size_t k = 0; k < node.inputs.size(); ++k) {
          if (wants_inputs[k]) AddGradient(node.inputs[k], of_inputs[k]);
        }
      }));
    }
    return absl::OkStatus();
  }

  // A reader's share of the gradient by a node.
  void AddGradient(int node, const OutputGradient& part) {
    gradients_[node].push_back(part);
    ++pending_[part.tensor->memory];
  }

  // The sum of what the readers of a node gave.
  OutputGradient TakeGradient(int node) {
    std::vector<OutputGradient>& parts = gradients_[node];
    const auto take = [&] {
      OutputGradient part = parts.back();
      parts.pop_back();
      part.is_shared = --pending_[part.tensor->memory] > 0;
      return part;
    };
    OutputGradient sum = take();
    while (!parts.empty()) {
      CHECK(!sum.before_activation);
      const OutputGradient part = take();
      Tensor* const target = !sum.is_shared ? sum.tensor
                             : !part.is_shared
                                 ? part.tensor
                                 : builder_.NewTensor(sum.tensor->shape);
      builder_.AddParallel(
          {sum.tensor, part.tensor, target}, target->count(), 1,
          [a = sum.tensor, b = part.tensor, target](int64_t begin,
                                                    int64_t end) {
            AddArrays(end - begin, a->floats() + begin, b->floats() + begin,
                      target->floats() + begin);
          });
      sum = {target};
    }
    return sum;
  }

  const ProgramSpec& spec_;
  const Graph& graph_;
  ProgramBuilder builder_;
  // Of each node; the input has no computation.
  std::vector<std::unique_ptr<NodeComputation>> computations_;
  std::vector<Tensor*> outputs_;
  // Whether a step updates variables of a node or of one before it.
  std::vector<bool> has_updates_;
  // What the readers of each node gave, until its backward takes it.
  std::vector<std::vector<OutputGradient>> gradients_;
  // How many of these lie in a memory.
  std::map<const Memory*, int> pending_;
};

}  // namespace

absl::Status CheckGraph(const Graph& graph) {
  for (size_t i = 1; i < graph.nodes.size(); ++i) {
    RETURN_IF_ERROR(MakeNodeComputation(graph, graph.nodes[i]).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<ProgramParts> CompileProgram(const ProgramSpec& spec,
                                            CpuState& state,
                                            const dnnl::engine& engine) {
  return ProgramCompiler(spec, state, engine).Compile();
}

}  // namespace paceline::cpu
