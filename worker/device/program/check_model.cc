#include "worker/device/program/check_model.h"

#include "common/model/loss_input.h"
#include "common/tensor/shape.h"

namespace paceline {
namespace {

// `shape` of one example with a batch axis of 1.
Shape OneExample(Shape shape) {
  shape.insert(shape.begin(), 1);
  return shape;
}

// The shape of labels as a loss or metric expects them, for one example.
Shape LabelsOfOneExample(bool are_sparse, const Shape& output) {
  return are_sparse ? Shape{1} : OneExample(output);
}

}  // namespace

ExampleFunction LossFunctionOf(const Graph& graph, int output, const Loss& loss,
                               bool is_training, bool has_gradient) {
  const LossInput from = ResolveLossInput(graph, output, loss, is_training);
  return MakeLossFunction(loss, from.from_logits,
                          OneExample(graph.nodes[from.node].output_shape),
                          LabelsOfOneExample(loss.has_sparse_labels(),
                                             graph.nodes[output].output_shape),
                          has_gradient);
}

ExampleFunction MetricFunctionOf(const Graph& graph, int output,
                                 const Metric& metric, bool is_training) {
  if (metric.mean_of() != nullptr) {
    return LossFunctionOf(graph, output, *metric.mean_of(), is_training,
                          /*has_gradient=*/false);
  }
  const Shape& shape = graph.nodes[output].output_shape;
  return MakeMetricFunction(
      metric, OneExample(shape),
      LabelsOfOneExample(metric.has_sparse_labels(), shape));
}

}  // namespace paceline
