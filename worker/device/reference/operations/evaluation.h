// What the reference device computes one call of an operation from.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_OPERATIONS_EVALUATION_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_OPERATIONS_EVALUATION_H_

#include "absl/types/span.h"
#include "worker/device/reference/array.h"
#include "worker/device/reference/evaluate.h"

namespace paceline::reference {

struct Evaluation {
  absl::Span<const Array* const> inputs;
  // Of the types that the shape rule gave, and zeros.
  absl::Span<Array> outputs;
  const StepContext& step;

  const Array& input(int index) const { return *inputs[index]; }
  Array& output() const { return outputs[0]; }
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_OPERATIONS_EVALUATION_H_
