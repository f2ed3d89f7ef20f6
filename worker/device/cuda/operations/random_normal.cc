#include "absl/types/span.h"
#include "common/operations/random.h"
#include "worker/device/cuda/operations/operations.h"

namespace paceline::cuda {

Tensor* AddRandomNormal(const PlacedCall& call, ProgramBuilder& builder) {
  const uint64_t key =
      static_cast<const op::RandomNormalOperation&>(call.operation).key();
  Tensor* const output = OutputOf(call, builder);
  const int64_t size = NumElements(absl::MakeSpan(output->shape).subspan(1));
  builder.AddKernel({output}, output->count(), [=, step = builder.step()] {
    return DrawNormal{key, size, step, ValuesOf(output)};
  });
  return output;
}

}  // namespace paceline::cuda
