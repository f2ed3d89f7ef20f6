// A layer that the node before it computes as well (fused_clamp.h).
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_FUSED_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_FUSED_H_

#include "worker/device/program/node_computation.h"

namespace paceline {

template <typename Builder>
class FusedComputation final : public LayerComputation<Builder> {
 public:
  Tensor* AddForward(Tensor* input, Builder& /*builder*/) override {
    return input;
  }
  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             Builder& /*builder*/) override {
    if (!wants_input) return {};
    return {output.tensor};
  }
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_FUSED_H_
