#include "worker/device/program/row_activation.h"

#include "common/operations/softmax.h"
#include "worker/device/program/operations/operation_table.h"

namespace paceline {

Tensor* AddRowActivation(ActivationFunction function, Tensor* input,
                         LayoutBuilder& builder) {
  const op::TensorType type = {DataType::kFloat32, input->shape};
  const int axis = static_cast<int>(input->shape.size()) - 1;
  const op::SoftmaxOperation softmax(axis);
  const op::LogSoftmaxOperation log_softmax(axis);
  const bool is_log = function == ActivationFunction::kLogSoftmax;
  return builder.AddCall(
      {.operation =
           is_log ? static_cast<const op::Operation&>(log_softmax) : softmax,
       .inputs = {input},
       .output_type = type});
}

Tensor* AddRowActivationGradient(ActivationFunction function, Tensor* output,
                                 const OutputGradient& gradient,
                                 LayoutBuilder& builder) {
  const op::TensorType type = {DataType::kFloat32, output->shape};
  const int axis = static_cast<int>(output->shape.size()) - 1;
  const op::SoftmaxGradientOperation softmax(axis);
  const op::LogSoftmaxGradientOperation log_softmax(axis);
  const bool is_log = function == ActivationFunction::kLogSoftmax;
  return builder.AddCall(
      {.operation =
           is_log ? static_cast<const op::Operation&>(log_softmax) : softmax,
       .inputs = {output, gradient.tensor},
       .output_type = type,
       .overwritable = gradient.is_shared ? nullptr : gradient.tensor});
}

}  // namespace paceline
