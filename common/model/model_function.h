// A model as one function of operations: forward, losses, metrics, and in
// training what a step gives each variable.
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
  // As Graph::outputs.
  std::vector<OutputSpec> outputs = {};
  bool is_training = false;
  int64_t batch_size = 0;
  // The job's.
  uint64_t seed = 0;
  // What it computes in: kFloat32 or kFloat64.
  DataType type = DataType::kFloat32;
};

// The list has the calls in this order: forward by node, losses, metrics,
// deltas of statistics, and, from `backward_begin` on, backward. Parameters and
// results are tensors of `function`.
struct ModelFunction {
  op::Function function;

  // --- Parameters. ---
  // Of each input, (batch, input shape...). Ids are whole numbers of the same
  // type.
  std::vector<op::Tensor> features;
  // Of each output, int32 (batch) under a sparse loss, else
  // (batch, output shape...).
  std::vector<op::Tensor> labels;
  // As Graph::variables.
  std::vector<op::Tensor> variables;
  // Of shape (): Batch::loss_divisor and Batch::regularization_scale.
  op::Tensor loss_divisor;
  op::Tensor regularization_scale;

  // --- What it computes. ---
  // Each (batch, output shape...).
  std::vector<op::Tensor> outputs;
  // Of each output, the loss of each example, without its weight and without
  // the penalty.
  std::vector<op::Tensor> losses;
  // Of all regularizers, whole, of shape (); nullopt: there are none.
  std::optional<op::Tensor> penalty;
  // Of each metric of all outputs, what Metric::Lower returns.
  std::vector<op::Tensor> metrics;
  // In training, of each variable: its gradient, or the delta of a statistic
  // (VariableUpdate). nullopt: it is frozen.
  std::vector<std::optional<op::Tensor>> updates;
  // The index of the first call of backward, or the number of calls.
  size_t backward_begin = 0;
};

// What `spec` points to outlives the call alone.
std::unique_ptr<const ModelFunction> MakeModelFunction(
    const ModelFunctionSpec& spec);

// How far a batch moves a statistic (VariableUpdate::kDelta) that it has
// `value` of: (1 − momentum) · share · (value − statistic), where `share` is
// Batch::regularization_scale, the batch's share of the step.
op::Tensor StatisticDelta(const op::Tensor& value, const op::Tensor& statistic,
                          double momentum, const op::Tensor& share);

// When a variable is done with, in numbers of calls; zeros if it is frozen.
struct VariableEnd {
  // Its update is known.
  size_t ready_after = 0;
  // No call reads it any more, either, so that somebody may overwrite it.
  size_t final_after = 0;
};

// Of each variable of a function for training.
std::vector<VariableEnd> VariableEnds(const ModelFunction& model);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_MODEL_FUNCTION_H_
