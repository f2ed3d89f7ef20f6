#include <cstdint>
#include <memory>
#include <utility>

#include "common/operations/pooling.h"
#include "worker/device/cpu/kernels/pooling.h"
#include "worker/device/cpu/operations/operations.h"

namespace paceline::cpu {
namespace {

using Pool = void(const PoolWindows& windows, int64_t begin, int64_t end,
                  const float* from, float* to);

// Splits the images of a batch among the threads.
void AddPool(Pool* pool, PoolWindows pool_windows, const Tensor* from,
             const Tensor* to, ProgramBuilder& builder) {
  const auto windows =
      std::make_shared<const PoolWindows>(std::move(pool_windows));
  builder.AddParallel(
      {from, to}, from->shape[0], windows->pixel_count * windows->channels,
      [=](int64_t begin, int64_t end) {
        pool(*windows, begin, end, from->floats(), to->floats());
      });
}

}  // namespace

Tensor* AddAveragePooling(const PlacedCall& call, ProgramBuilder& builder) {
  const auto& window =
      static_cast<const op::AveragePoolingOperation&>(call.operation).window();
  const Tensor* const input = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  AddPool(AveragePoolForward, MakePoolWindows(window, input->shape), input,
          output, builder);
  return output;
}

Tensor* AddAveragePoolingGradient(const PlacedCall& call,
                                  ProgramBuilder& builder) {
  const auto& window =
      static_cast<const op::AveragePoolingGradientOperation&>(call.operation)
          .window();
  const Tensor* const gradient = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  AddPool(AveragePoolBackward, MakePoolWindows(window, output->shape), gradient,
          output, builder);
  return output;
}

}  // namespace paceline::cpu
