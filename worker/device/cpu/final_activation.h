// The activation at the end of a layer.
#ifndef PACELINE_WORKER_DEVICE_CPU_FINAL_ACTIVATION_H_
#define PACELINE_WORKER_DEVICE_CPU_FINAL_ACTIVATION_H_

#include "common/model/activation.h"
#include "worker/device/cpu/node_computation.h"
#include "worker/device/cpu/program_builder.h"
#include "worker/device/row_geometry.h"

namespace paceline::cpu {

class FinalActivation {
 public:
  explicit FinalActivation(ActivationFunction function) : function_(function) {}

  // Whether the oneDNN primitive before it should apply it.
  bool is_fused() const { return function_ == ActivationFunction::kRelu; }

  // Activates along the last axis; returns the output.
  Tensor* AddForward(Tensor* values, ProgramBuilder& builder);
  // The same behind a primitive, which has done it if it is fused.
  Tensor* AddForwardBehindPrimitive(Tensor* values, ProgramBuilder& builder);

  // The same, row-wise functions along the axis that `rows` describes.
  Tensor* AddRowwiseForward(Tensor* values, const RowGeometry& rows,
                            ProgramBuilder& builder);

  // The gradient by what goes in; takes the memory of that by the output,
  // unless that is shared.
  Tensor* AddBackward(OutputGradient output, ProgramBuilder& builder) const;

  // What goes in. Null if it is activated by another.
  Tensor* input() const { return input_; }

 private:
  ActivationFunction function_;
  RowGeometry rows_;
  Tensor* input_ = nullptr;
  Tensor* output_ = nullptr;
};

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_FINAL_ACTIVATION_H_
