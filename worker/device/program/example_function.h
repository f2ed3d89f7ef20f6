// A loss or a metric as a function of operations. Its result is a value per
// example, or the batch's contribution to a metric's state.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_EXAMPLE_FUNCTION_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_EXAMPLE_FUNCTION_H_

#include <memory>
#include <string>

#include "common/model/loss.h"
#include "common/model/metric.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// A function in float32 with fused maps. Its parameters are the input, of shape
// (batch, ...), and the labels, as the loss or metric expects them. Its first
// result is the values, of shape (batch); or of shape (state_size) for a metric
// that is no mean.
using ExampleFunction = std::unique_ptr<const op::Function>;

// The function of a loss, which reads logits if `from_logits`. With a gradient
// there is a third parameter, the scale of each example, of shape (batch), and
// a second result, the gradient of Σ scale · values with respect to the input.
ExampleFunction MakeLossFunction(const Loss& loss, bool from_logits,
                                 const Shape& input_shape,
                                 const Shape& labels_shape, bool has_gradient);

// The function of a metric that is no mean of a loss.
ExampleFunction MakeMetricFunction(const Metric& metric,
                                   const Shape& output_shape,
                                   const Shape& labels_shape);

// The name in errors: "loss MeanSquaredError", "metric accuracy
// (BinaryAccuracy)".
std::string OwnerName(const Loss& loss);
std::string OwnerName(const Metric& metric);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_EXAMPLE_FUNCTION_H_
