#include "worker/device/cpu/program_compiler.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "worker/device/cpu/kernels/regularization.h"
#include "worker/device/cpu/losses/loss_kernel.h"
#include "worker/device/cpu/metrics/metric_kernel.h"
#include "worker/device/cpu/node_computation.h"
#include "worker/device/cpu/parallel.h"
#include "worker/device/program/program_compiler.h"

namespace paceline::cpu {
namespace {

// Runs `add`, which adds the operations of a layer.
absl::Status CatchErrors(const Layer& layer, absl::FunctionRef<void()> add) {
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
  double sum = 0;
  for (int64_t i = 0; i < values.count(); ++i) sum += values.doubles()[i];
  step.metrics->totals[index] += sum;
  step.metrics->counts[index] += static_cast<double>(values.count());
}

class Compiler final : public ProgramCompiler<ProgramBuilder> {
 public:
  Compiler(const ProgramSpec& spec, ProgramBuilder& builder)
      : ProgramCompiler(spec, builder) {}

  using ProgramCompiler::AddOperations;

 private:
  absl::StatusOr<std::unique_ptr<NodeComputation>> MakeComputation(
      const Graph& graph, const Node& node) override {
    return MakeNodeComputation(graph, node, NodeFunctionSpecOf(spec()));
  }

  absl::Status AddLayer(const Layer& layer,
                        absl::FunctionRef<void()> add) override {
    return CatchErrors(layer, add);
  }

  absl::Status AddLoss(const Loss& loss, bool from_logits, Tensor* input,
                       size_t index, Tensor* gradient) override {
    ASSIGN_OR_RETURN(
        std::unique_ptr<const LossKernel> kernel,
        MakeLossKernel(loss, from_logits, spec().graph->output_shape()));
    Tensor* const labels = builder().labels();
    Tensor* const values = builder().NewTensor<double>({spec().batch_size});
    std::vector<const Tensor*> used = {input, labels, values};
    if (gradient != nullptr) used.push_back(gradient);
    builder().Add(used, [kernel = std::move(kernel), input, labels, values,
                         gradient, index](const Step& step) {
      const int64_t count = values->count();
      ParallelFor(
          count, input->count() / count, [&](int64_t begin, int64_t end) {
            kernel->Run({.begin = begin,
                         .end = end,
                         .outputs = input->floats(),
                         .labels = labels->data(),
                         .values = values->doubles(),
                         .gradients = FloatsOrNull(gradient),
                         .gradient_scale = 1 / step.batch.loss_divisor});
          });
      AddToMetrics(step, index, *values);
    });
    return absl::OkStatus();
  }

  void AddPenalty(const Regularizer& regularizer, Tensor* variable) override {
    builder().Add({}, [regularizer, variable](const Step& step) {
      step.metrics->totals[0] +=
          static_cast<double>(step.batch.count) *
          PenaltyOf(regularizer, variable->count(), variable->floats());
    });
  }

  absl::Status AddMetric(const Metric& metric, Tensor* output,
                         size_t index) override {
    ASSIGN_OR_RETURN(std::unique_ptr<const MetricKernel> kernel,
                     MakeMetricKernel(metric, spec().graph->output_shape()));
    Tensor* const labels = builder().labels();
    Tensor* const values = builder().NewTensor<double>({spec().batch_size});
    builder().Add(
        {output, labels, values}, [kernel = std::move(kernel), output, labels,
                                   values, index](const Step& step) {
          const int64_t count = values->count();
          ParallelFor(
              count, output->count() / count, [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  values->doubles()[i] =
                      kernel->ValueOf(i, output->floats(), labels->data());
                }
              });
          AddToMetrics(step, index, *values);
        });
    return absl::OkStatus();
  }
};

}  // namespace

absl::Status CheckGraph(const Graph& graph) {
  for (size_t i = 1; i < graph.nodes.size(); ++i) {
    RETURN_IF_ERROR(MakeNodeComputation(graph, graph.nodes[i], {}).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<ProgramParts> CompileProgram(const ProgramSpec& spec,
                                            CpuState& state,
                                            const dnnl::engine& engine) {
  ProgramBuilder builder(spec, state, engine);
  ASSIGN_OR_RETURN(const Tensor* const output,
                   Compiler(spec, builder).AddOperations());
  return std::move(builder).Build(output);
}

}  // namespace paceline::cpu
