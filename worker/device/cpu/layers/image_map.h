// Layers that compute each image of a batch for itself, and keep nothing for
// their backward.
#ifndef PACELINE_WORKER_DEVICE_CPU_LAYERS_IMAGE_MAP_H_
#define PACELINE_WORKER_DEVICE_CPU_LAYERS_IMAGE_MAP_H_

#include <cstdint>
#include <functional>

#include "worker/device/cpu/node_computation.h"

namespace paceline::cpu {

class ImageMap final : public LayerComputation {
 public:
  // From the images [begin, end) of one batch to those of another.
  using Function = std::function<void(int64_t begin, int64_t end,
                                      const float* from, float* to)>;

  // `backward` takes gradients by the output to those by the input. `work` is
  // the elements that an image costs.
  ImageMap(const Node& node, int64_t work, Function forward, Function backward);

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override;
  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override;

 private:
  Tensor* AddMap(const Function& function, const Tensor* from, Shape to_shape,
                 ProgramBuilder& builder) const;

  const Node& node_;
  const int64_t work_;
  const Function forward_;
  const Function backward_;
  Shape input_shape_;
};

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_LAYERS_IMAGE_MAP_H_
