// Convolution of each channel for itself.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_DEPTHWISE_CONV2D_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_DEPTHWISE_CONV2D_H_

#include "common/model/layers/depthwise_conv2d.h"
#include "worker/device/reference/computation.h"
#include "worker/device/reference/layers/conv2d.h"

namespace paceline::reference {

template <typename T>
class DepthwiseConv2DComputation final : public ConvolutionComputation<T> {
 public:
  explicit DepthwiseConv2DComputation(const LayerContext<T>& context)
      : ConvolutionComputation<T>(context, context.input_shape.back()) {}
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_DEPTHWISE_CONV2D_H_
