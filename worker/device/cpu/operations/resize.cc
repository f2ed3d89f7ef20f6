#include "common/operations/resize.h"

#include <cstdint>
#include <utility>

#include "worker/device/cpu/kernels/pixel_mixture.h"
#include "worker/device/cpu/operations/operations.h"

namespace paceline::cpu {
namespace {

// The mixture that resizes images of shape `small` to shape `large`.
PixelMixture MixtureOf(op::ResizeMode mode, const Shape& small,
                       const Shape& large) {
  return {.height = small[1],
          .width = small[2],
          .channels = small[3],
          .rows = op::ResizedElements(mode, small[1], large[1]),
          .columns = op::ResizedElements(mode, small[2], large[2])};
}

using Mix = void(const PixelMixture& mixture, int64_t begin, int64_t end,
                 const float* from, float* to);

// Splits the images of a batch among the threads.
void AddMix(Mix* mix, PixelMixture mixture, const Tensor* from,
            const Tensor* to, ProgramBuilder& builder) {
  const int64_t work = mixture.output_pixel_count() * mixture.channels;
  builder.AddParallel(
      {from, to}, from->shape[0], work,
      [=, mixture = std::move(mixture)](int64_t begin, int64_t end) {
        mix(mixture, begin, end, from->floats(), to->floats());
      });
}

}  // namespace

Tensor* AddResize(const PlacedCall& call, ProgramBuilder& builder) {
  const auto mode =
      static_cast<const op::ResizeOperation&>(call.operation).mode();
  const Tensor* const input = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  AddMix(MixPixels, MixtureOf(mode, input->shape, output->shape), input, output,
         builder);
  return output;
}

Tensor* AddResizeGradient(const PlacedCall& call, ProgramBuilder& builder) {
  const auto mode =
      static_cast<const op::ResizeGradientOperation&>(call.operation).mode();
  const Tensor* const gradient = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  AddMix(MixPixelsBackward, MixtureOf(mode, output->shape, gradient->shape),
         gradient, output, builder);
  return output;
}

}  // namespace paceline::cpu
