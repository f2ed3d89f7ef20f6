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

// For a batch of one example, where `input` is what the loss or metric reads.
ExampleShapes ShapesOf(const Graph& graph, const OutputSpec& spec,
                       const Shape& input) {
  ExampleShapes shapes = {
      .input = OneExample(input),
      .labels = OneExample(spec.LabelShape(graph.output_shape(spec.output)))};
  if (const int mask = graph.output_masks[spec.output]; mask >= 0) {
    shapes.mask = OneExample(graph.nodes[mask].output_shape);
  }
  if (spec.has_sample_weights) shapes.weights = OneExample({});
  return shapes;
}

}  // namespace

ExampleFunction LossFunctionOf(const Graph& graph, const OutputSpec& spec,
                               bool is_training) {
  const LossInput from = ResolveLossInput(graph, graph.outputs[spec.output],
                                          *spec.loss, is_training);
  return MakeLossFunction(
      spec, is_training, from.from_logits,
      ShapesOf(graph, spec, graph.nodes[from.node].output_shape),
      /*has_gradient=*/is_training);
}

ExampleFunction MetricFunctionOf(const Graph& graph, const OutputSpec& spec,
                                 const Metric& metric, bool is_training) {
  const int output = graph.outputs[spec.output];
  LossInput from = {.node = output};
  if (const Loss* const loss = metric.mean_of(); loss != nullptr) {
    from = ResolveLossInput(graph, output, *loss, is_training);
  }
  return MakeMetricFunction(
      spec, metric, is_training, from.from_logits,
      ShapesOf(graph, spec, graph.nodes[from.node].output_shape));
}

}  // namespace paceline
