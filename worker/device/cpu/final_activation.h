// The activation at the end of a layer.
//
// oneDNN's rectifier, as a part of a convolution or product, makes 0 of NaN,
// and would hide what diverged. So it is a pass of its own, in place, unless
// the max pooling behind the layer applies it (program/pooled_rectifier.h).
#ifndef PACELINE_WORKER_DEVICE_CPU_FINAL_ACTIVATION_H_
#define PACELINE_WORKER_DEVICE_CPU_FINAL_ACTIVATION_H_

#include "common/model/activation.h"
#include "common/model/graph.h"
#include "worker/device/cpu/node_computation.h"
#include "worker/device/cpu/program_builder.h"

namespace paceline::cpu {

class FinalActivation {
 public:
  // That of `node`; it may be left to the pooling behind it.
  FinalActivation(ActivationFunction function, const Graph& graph,
                  const Node& node);

  // Activates along the last axis; returns the output. A rectifier overwrites
  // `values`.
  Tensor* AddForwardOver(Tensor* values, ProgramBuilder& builder);

  // The gradient by what goes in; takes the memory of that by the output,
  // unless that is shared.
  Tensor* AddBackward(OutputGradient output, ProgramBuilder& builder) const;

  // What goes in. Null if it is overwritten.
  Tensor* input() const { return input_; }

 private:
  Tensor* AddForward(Tensor* values, ProgramBuilder& builder);

  ActivationFunction function_;
  // Whether the pooling behind the layer applies it.
  bool is_left_to_pooling_ = false;
  Tensor* input_ = nullptr;
  Tensor* output_ = nullptr;
};

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_FINAL_ACTIVATION_H_
