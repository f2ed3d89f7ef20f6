#include "absl/types/span.h"
#include "common/model/initializers/sampling.h"
#include "common/model/philox.h"
#include "common/operations/random.h"
#include "worker/device/cpu/operations/operations.h"
#include "worker/device/cpu/parallel.h"

namespace paceline::cpu {

Tensor* AddRandomNormal(const PlacedCall& call, ProgramBuilder& builder) {
  const uint64_t key =
      static_cast<const op::RandomNormalOperation&>(call.operation).key();
  Tensor* const output = OutputOf(call, builder);
  const int64_t size = NumElements(absl::MakeSpan(output->shape).subspan(1));
  builder.Add({output}, [=](const Step& step) {
    const uint64_t in_epoch =
        MixKey(key, static_cast<uint64_t>(step.batch.epoch));
    ParallelFor(output->shape[0], size, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const uint64_t of_example = MixKey(
            in_epoch, static_cast<uint64_t>(step.batch.first_example + i));
        float* const numbers = output->floats() + i * size;
        for (int64_t e = 0; e < size; ++e) {
          numbers[e] = static_cast<float>(NormalSample(of_example, e));
        }
      }
    });
  });
  return output;
}

}  // namespace paceline::cpu
