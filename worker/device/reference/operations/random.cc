#include "common/operations/random.h"

#include "common/model/dropout_mask.h"
#include "common/model/initializers/sampling.h"
#include "common/model/philox.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {
namespace {

// Sets each element to sample(position of its example in the epoch, its index
// in the example).
template <typename Sample>
void FillExamples(const Evaluation& evaluation, Sample sample) {
  Array& y = evaluation.output();
  const int64_t batch_size = y.shape()[0];
  const int64_t size = batch_size == 0 ? 0 : y.size() / batch_size;
  WithType(y.data_type(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < y.size(); ++i) {
      y.values<T>()[i] = static_cast<T>(
          sample(evaluation.step.first_example + i / size, i % size));
    }
  });
}

}  // namespace

void EvaluateDropoutMask(const op::Operation& operation,
                         const Evaluation& evaluation) {
  const auto& dropout = static_cast<const op::DropoutMaskOperation&>(operation);
  const paceline::DropoutMask mask =
      paceline::DropoutMask(dropout.rate(), dropout.key())
          .InEpoch(evaluation.step.epoch);
  FillExamples(evaluation, [&](int64_t example, int64_t element) {
    return mask.IsKept(example, element);
  });
}

void EvaluateRandomNormal(const op::Operation& operation,
                          const Evaluation& evaluation) {
  const uint64_t key =
      MixKey(static_cast<const op::RandomNormalOperation&>(operation).key(),
             static_cast<uint64_t>(evaluation.step.epoch));
  FillExamples(evaluation, [&](int64_t example, int64_t element) {
    return NormalSample(MixKey(key, static_cast<uint64_t>(example)), element);
  });
}

}  // namespace paceline::reference
