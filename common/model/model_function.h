// A model as one function of operations: forward, losses, metrics, and in
// training the update of each variable.
#ifndef PACELINE_COMMON_MODEL_MODEL_FUNCTION_H_
#define PACELINE_COMMON_MODEL_MODEL_FUNCTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/model/graph.h"
#include "common/model/output_spec.h"
#include "common/operations/function.h"

namespace paceline {

struct ModelFunctionSpec {
  const Graph* graph = nullptr;
  // Empty, only outside of training: no loss, no labels.
  std::vector<OutputSpec> outputs = {};
  bool is_training = false;
  int64_t batch_size = 0;
  // The job's seed.
  uint64_t seed = 0;
  // The type in which it computes: kFloat32 or kFloat64.
  DataType type = DataType::kFloat32;
};

// The order of calls: forward by node, losses, metrics, deltas of statistics,
// and, from `backward_begin` on, backward. Parameters and results are tensors
// of `function`.
struct ModelFunction {
  op::Function function;

  // --- Parameters --- By input: (batch, input shape...). Ids are whole numbers
  // of the same type.
  std::vector<op::Tensor> features;
  // By OutputSpec: (batch, label shape...), int32 if they are sparse.
  std::vector<op::Tensor> labels;
  // The same, of shape (batch); none without OutputSpec::has_sample_weights.
  std::vector<op::Tensor> weights;
  // By index in Graph::variables.
  std::vector<op::Tensor> variables;
  // Scalars: Batch::loss_divisor and Batch::regularization_scale.
  op::Tensor loss_divisor;
  op::Tensor regularization_scale;

  // --- Results --- By index in Graph::outputs: (batch, output shape...).
  std::vector<op::Tensor> outputs;
  // By OutputSpec with a loss: the loss of each example, without weight and
  // penalty.
  std::vector<op::Tensor> losses;
  // The sum of the variables' regularizers, of shape (); nullopt: there are
  // none.
  std::optional<op::Tensor> penalty;
  // By node that has one (Layer::is_penalty): the penalty of each example.
  // Empty without OutputSpecs.
  std::vector<op::Tensor> activity_penalties;
  // By metric, over all outputs: the result of LowerMetric.
  std::vector<op::Tensor> metrics;
  // In training, by variable: its gradient, or the delta of a statistic
  // (VariableUpdate). nullopt: it is frozen.
  std::vector<std::optional<op::Tensor>> updates;
  // The index of the first call of backward; the number of calls if there is no
  // backward.
  size_t backward_begin = 0;
};

// The objects that `spec` points to need not outlive the call.
std::unique_ptr<const ModelFunction> MakeModelFunction(
    const ModelFunctionSpec& spec);

// The delta by which a batch moves a statistic (VariableUpdate::kDelta), where
// `value` is the batch's own: (1 − momentum) · share · (value − statistic).
// `share` is Batch::regularization_scale, the batch's fraction of the step.
op::Tensor StatisticDelta(const op::Tensor& value, const op::Tensor& statistic,
                          double momentum, const op::Tensor& share);

// When a variable is finished, as a number of calls; zeros if it is frozen.
struct VariableEnd {
  // After this many calls its update is complete.
  size_t ready_after = 0;
  // After this many calls, also no call reads it any more, so it may be
  // overwritten.
  size_t final_after = 0;
};

// By variable, for a training function.
std::vector<VariableEnd> VariableEnds(const ModelFunction& model);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_MODEL_FUNCTION_H_
