#include "common/model/dropout_mask.h"

#include "absl/types/span.h"
#include "common/operations/random.h"
#include "worker/device/cuda/operations/operations.h"

namespace paceline::cuda {

Tensor* AddDropoutMask(const PlacedCall& call, ProgramBuilder& builder) {
  const auto& dropout =
      static_cast<const op::DropoutMaskOperation&>(call.operation);
  Tensor* const output = OutputOf(call, builder);
  const int64_t size = NumElements(absl::MakeSpan(output->shape).subspan(1));
  builder.AddKernel(
      {output}, output->shape[0] * DrawDropoutMask::BlocksOf(size),
      [=, mask = DropoutMask(dropout.rate(), dropout.key()),
       step = builder.step()] {
        return DrawDropoutMask{mask, size, step, output->as<bool>()};
      });
  return output;
}

}  // namespace paceline::cuda
