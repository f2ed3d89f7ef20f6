#include <cstdint>
#include <memory>

#include "common/operations/pooling.h"
#include "worker/device/cpu/kernels/pooling.h"
#include "worker/device/cpu/operations/operations.h"

namespace paceline::cpu {

// Both split the images of a batch among the threads.

Tensor* AddMaxPooling(const PlacedCall& call, ProgramBuilder& builder) {
  const auto& pooling =
      static_cast<const op::MaxPoolingOperation&>(call.operation);
  const Tensor* const input = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  const auto windows = std::make_shared<const PoolWindows>(
      MakePoolWindows(pooling.window(), input->shape));
  builder.AddParallel(
      {input, output}, input->shape[0],
      windows->pixel_count * windows->channels,
      [=, rectifies = pooling.rectifies()](int64_t begin, int64_t end) {
        MaxPoolForward(*windows, rectifies, begin, end, input->floats(),
                       output->floats());
      });
  return output;
}

Tensor* AddMaxPoolingGradient(const PlacedCall& call, ProgramBuilder& builder) {
  const auto& pooling =
      static_cast<const op::MaxPoolingGradientOperation&>(call.operation);
  const Tensor* const input = call.inputs[0];
  const Tensor* const output = call.inputs[1];
  const Tensor* const output_gradient = call.inputs[2];
  Tensor* const input_gradient = OutputOf(call, builder);
  const auto windows = std::make_shared<const PoolWindows>(
      MakePoolWindows(pooling.window(), input->shape));
  builder.AddParallel(
      {input, output, output_gradient, input_gradient}, input->shape[0],
      windows->pixel_count * windows->channels,
      [=, rectifies = pooling.rectifies()](int64_t begin, int64_t end) {
        MaxPoolBackward(*windows, rectifies, begin, end, input->floats(),
                        output->floats(), output_gradient->floats(),
                        input_gradient->floats());
      });
  return input_gradient;
}

}  // namespace paceline::cpu
