// A loss or a metric as a function of operations. Its result is a value per
// example, or the batch's contribution to a metric's state.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_EXAMPLE_FUNCTION_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_EXAMPLE_FUNCTION_H_

#include <memory>
#include <optional>
#include <string>

#include "common/model/loss.h"
#include "common/model/metric.h"
#include "common/model/output_spec.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// A function in float32 with fused maps. Its parameters are the input, of shape
// (batch, ...), the labels, as the loss or metric expects them, the mask of the
// output, if it has one, and the weights of the examples, if they have any.
using ExampleFunction = std::unique_ptr<const op::Function>;

// With the batch axis.
struct ExampleShapes {
  Shape input;
  Shape labels;
  // nullopt: the output has no mask.
  std::optional<Shape> mask = std::nullopt;
  // nullopt: examples have no weights.
  std::optional<Shape> weights = std::nullopt;
};

// The function of the loss of an output, which reads logits if `from_logits`.
// Its first result is that of LowerLoss. With a gradient there is one more
// parameter, the scale of each example, of shape (batch), and a second result,
// the gradient of Σ scale · loss with respect to the input.
ExampleFunction MakeLossFunction(const OutputSpec& output, bool is_training,
                                 bool from_logits, const ExampleShapes& shapes,
                                 bool has_gradient);

// The function of a metric of an output. Its result is that of LowerMetric.
ExampleFunction MakeMetricFunction(const OutputSpec& output,
                                   const Metric& metric, bool is_training,
                                   bool from_logits,
                                   const ExampleShapes& shapes);

// The name in errors: "loss MeanSquaredError", "metric accuracy
// (BinaryAccuracy)".
std::string OwnerName(const Loss& loss);
std::string OwnerName(const Metric& metric);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_EXAMPLE_FUNCTION_H_
