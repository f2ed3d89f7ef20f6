// The inputs and outputs of one call on the reference device.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_OPERATIONS_EVALUATION_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_OPERATIONS_EVALUATION_H_

#include "absl/types/span.h"
#include "worker/device/reference/array.h"
#include "worker/device/reference/evaluate.h"

namespace paceline::reference {

struct Evaluation {
  absl::Span<const Array* const> inputs;
  // Already have the types and shapes that the shape rule gives; zeros.
  absl::Span<Array> outputs;
  const StepContext& step;

  const Array& input(int index) const { return *inputs[index]; }
  Array& output() const { return outputs[0]; }
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_OPERATIONS_EVALUATION_H_
