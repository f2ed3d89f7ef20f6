#include "common/model/dropout_mask.h"

#include <algorithm>

#include "absl/types/span.h"
#include "common/operations/random.h"
#include "worker/device/cpu/operations/operations.h"
#include "worker/device/cpu/parallel.h"

namespace paceline::cpu {
namespace {

// The mask of one example: true where an element is kept.
void WriteMask(const DropoutMask& mask, int64_t example, int64_t size,
               bool* is_kept) {
  for (int64_t first = 0; first < size; first += DropoutMask::kBlock) {
    const unsigned kept =
        mask.KeptOfBlock(example, first / DropoutMask::kBlock);
    const int64_t count = std::min(DropoutMask::kBlock, size - first);
    for (int64_t i = 0; i < count; ++i) {
      is_kept[first + i] = (kept >> i & 1) != 0;
    }
  }
}

}  // namespace

Tensor* AddDropoutMask(const PlacedCall& call, ProgramBuilder& builder) {
  const auto& dropout =
      static_cast<const op::DropoutMaskOperation&>(call.operation);
  Tensor* const output = OutputOf(call, builder);
  const int64_t size = NumElements(absl::MakeSpan(output->shape).subspan(1));
  builder.Add({output}, [=, mask = DropoutMask(dropout.rate(), dropout.key())](
                            const Step& step) {
    const DropoutMask in_epoch = mask.InEpoch(step.batch.epoch);
    ParallelFor(output->shape[0], size, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        WriteMask(in_epoch, step.batch.first_example + i, size,
                  output->as<bool>() + i * size);
      }
    });
  });
  return output;
}

}  // namespace paceline::cpu
