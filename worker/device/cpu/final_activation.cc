#include "worker/device/cpu/final_activation.h"

#include "common/operations/operation.h"
#include "worker/device/cpu/kernels/activation.h"
#include "worker/device/cpu/operations/operations.h"
#include "worker/device/program/operations/operation_table.h"
#include "worker/device/program/pooled_rectifier.h"
#include "worker/device/program/row_activation.h"

namespace paceline::cpu {

FinalActivation::FinalActivation(ActivationFunction function,
                                 const Graph& graph, const Node& node)
    : function_(function),
      is_left_to_pooling_(LeavesRectifier(
          graph, node,
          [](const op::Operation& operation,
             absl::Span<const op::TensorType> inputs) {
            return HasOperation(Operations(), operation, inputs);
          })) {}

Tensor* FinalActivation::AddForwardOver(Tensor* values,
                                        ProgramBuilder& builder) {
  if (function_ != ActivationFunction::kRelu)
    return AddForward(values, builder);
  output_ = values;
  if (is_left_to_pooling_) return output_;
  builder.AddParallel({output_}, output_->count(), 1,
                      [out = output_](int64_t begin, int64_t end) {
                        ReluForward(end - begin, out->floats() + begin,
                                    out->floats() + begin);
                      });
  return output_;
}

Tensor* FinalActivation::AddForward(Tensor* values, ProgramBuilder& builder) {
  input_ = values;
  output_ = values;
  if (function_ == ActivationFunction::kLinear) return output_;
  if (IsRowwise(function_)) {
    output_ = AddRowActivation(function_, values, builder);
    return output_;
  }
  output_ = builder.NewTensor(values->shape);
  builder.AddParallel({input_, output_}, values->count(), 1,
                      [function = function_, in = input_, out = output_](
                          int64_t begin, int64_t end) {
                        ActivationForward(function, end - begin,
                                          in->floats() + begin,
                                          out->floats() + begin);
                      });
  return output_;
}

Tensor* FinalActivation::AddBackward(OutputGradient output,
                                     ProgramBuilder& builder) const {
  if (output.before_activation || function_ == ActivationFunction::kLinear) {
    return output.tensor;
  }
  if (IsRowwise(function_)) {
    return AddRowActivationGradient(function_, output_, output, builder);
  }
  Tensor* const gradient = Overwritable(output, builder);
  if (function_ == ActivationFunction::kRelu) {
    builder.AddParallel({output_, gradient}, output_->count(), 1,
                        [out = output_, gradient](int64_t begin, int64_t end) {
                          ReluBackward(end - begin, out->floats() + begin,
                                       gradient->floats() + begin);
                        });
    return gradient;
  }
  builder.AddParallel({input_, gradient}, input_->count(), 1,
                      [function = function_, in = input_, gradient](
                          int64_t begin, int64_t end) {
                        ActivationBackward(function, end - begin,
                                           in->floats() + begin,
                                           gradient->floats() + begin);
                      });
  return gradient;
}

}  // namespace paceline::cpu
