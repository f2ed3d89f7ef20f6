// A loss or a metric as a function of operations. Its result is a value per
// example, or the batch's contribution to a metric's state.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_EXAMPLE_FUNCTION_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_EXAMPLE_FUNCTION_H_

#include <memory>
#include <optional>
#include <string>

#include "common/model/loss.h"
#include "common/model/metric.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// A function in float32 with fused maps. Its parameters are the input, of shape
// (batch, ...), the labels, as the loss or metric expects them, and the mask of
// the output, if it has one.
using ExampleFunction = std::unique_ptr<const op::Function>;

// With the batch axis.
struct ExampleShapes {
  Shape input;
  Shape labels;
  // nullopt: the output has no mask.
  std::optional<Shape> mask = std::nullopt;
};

// The function of a loss, which reads logits if `from_logits`. If there are
// `class_weights`, they are factors of the losses. Its first result is the
// losses, of shape (batch). With a gradient there is one more parameter,
// the scale of each example, of shape (batch), and a second result, the
// gradient of Σ scale · loss with respect to the input.
ExampleFunction MakeLossFunction(const Loss& loss, bool from_logits,
                                 absl::Span<const double> class_weights,
                                 const ExampleShapes& shapes,
                                 bool has_gradient);

// The function of a metric. Its result is that of ReduceMetric. The input of a
// mean of a loss is what that loss reads.
ExampleFunction MakeMetricFunction(const Metric& metric, bool from_logits,
                                   const ExampleShapes& shapes);

// The name in errors: "loss MeanSquaredError", "metric accuracy
// (BinaryAccuracy)".
std::string OwnerName(const Loss& loss);
std::string OwnerName(const Metric& metric);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_EXAMPLE_FUNCTION_H_
