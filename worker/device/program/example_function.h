// A loss or a metric as a function of operations: a value for each example of a
// batch, or what the batch adds to a metric's state.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_EXAMPLE_FUNCTION_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_EXAMPLE_FUNCTION_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/model/loss.h"
#include "common/model/metric.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"
#include "worker/device/program/layout_builder.h"
#include "worker/device/program/tensor.h"

namespace paceline {

// Made for float32, with their maps fused. Parameters are the input, of shape
// (batch, ...), and the labels, as the loss or metric has them. The first
// result is the values, of shape (batch), or (state_size) of a metric that is
// no mean.
using ExampleFunction = std::unique_ptr<const op::Function>;

// Of a loss, which reads logits if `from_logits`. With a gradient there is a
// third parameter, the scale of each example, of shape (batch), and a second
// result: the gradient of Σ scale · values by the input.
ExampleFunction MakeLossFunction(const Loss& loss, bool from_logits,
                                 const Shape& input_shape,
                                 const Shape& labels_shape, bool has_gradient);

// Of a metric that is not the mean of a loss.
ExampleFunction MakeMetricFunction(const Metric& metric,
                                   const Shape& output_shape,
                                   const Shape& labels_shape);

// As errors call them: "loss MeanSquaredError", "metric accuracy
// (BinaryAccuracy)".
std::string OwnerName(const Loss& loss);
std::string OwnerName(const Metric& metric);

// Adds all calls of a function, with these tensors as its parameters, which are
// not written to; returns its results.
std::vector<Tensor*> AddCalls(const op::Function& function,
                              absl::Span<Tensor* const> parameters,
                              LayoutBuilder& builder);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_EXAMPLE_FUNCTION_H_
