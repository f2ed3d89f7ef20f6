// The activation at the end of a layer, with the bias before it.
#ifndef PACELINE_WORKER_DEVICE_CUDA_FINAL_ACTIVATION_H_
#define PACELINE_WORKER_DEVICE_CUDA_FINAL_ACTIVATION_H_

#include "common/model/activation.h"
#include "worker/device/cuda/node_computation.h"
#include "worker/device/cuda/program_builder.h"
#include "worker/device/row_geometry.h"

namespace paceline::cuda {

class FinalActivation {
 public:
  explicit FinalActivation(ActivationFunction function) : function_(function) {}

  // Activates along the last axis; returns the output. Adds `bias` before, in
  // place, unless it is null.
  Tensor* AddForward(Tensor* values, const Tensor* bias,
                     ProgramBuilder& builder);

  // Whether it adds a bias in a pass over the values that it makes anyway. Else
  // that costs a pass, which who makes the values can save.
  bool adds_bias_in_passing() const;
  bool is_relu() const { return function_ == ActivationFunction::kRelu; }
  // `outputs` have been rectified: only notes them. For relu.
  Tensor* AddRectified(Tensor* outputs);

  // The gradient by what goes in; takes the memory of that by the output,
  // unless that is shared.
  Tensor* AddBackward(OutputGradient output, ProgramBuilder& builder) const;

  // What goes in; of AddRectified, what comes out, which has its sign.
  Tensor* input() const { return input_; }

 private:
  ActivationFunction function_;
  Tensor* input_ = nullptr;
  Tensor* output_ = nullptr;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_FINAL_ACTIVATION_H_
