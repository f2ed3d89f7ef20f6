// Softmax and log-softmax as the activation at the end of another layer.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_ROW_ACTIVATION_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_ROW_ACTIVATION_H_

#include "common/model/activation.h"
#include "worker/device/program/layout_builder.h"
#include "worker/device/program/node_gradients.h"
#include "worker/device/program/tensor.h"

namespace paceline {

// `function` is row-wise, along the last axis. Returns the output.
Tensor* AddRowActivation(ActivationFunction function, Tensor* input,
                         LayoutBuilder& builder);
// Returns the gradient by the input, which takes the memory of that by the
// output unless that is shared.
Tensor* AddRowActivationGradient(ActivationFunction function, Tensor* output,
                                 const OutputGradient& gradient,
                                 LayoutBuilder& builder);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_ROW_ACTIVATION_H_
