#include "common/operations/sum_over_replicas.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "glog/logging.h"
#include "worker/device/cpu/operations/operations.h"

namespace paceline::cpu {

// Of sums over a batch, which are float64: one tensor behind the other.
Tensor* AddSumOverReplicas(const PlacedCall& call, ProgramBuilder& builder) {
  std::vector<Tensor*> outputs = {OutputOf(call, builder)};
  outputs.insert(outputs.end(), call.more_outputs.begin(),
                 call.more_outputs.end());
  int64_t count = 0;
  for (const Tensor* output : outputs) count += output->count();
  Tensor* const sums = builder.NewTensor<double>({count});
  int64_t begin = 0;
  for (const Tensor* input : call.inputs) {
    CHECK(input->type == DataType::kFloat64) << DataTypeName(input->type);
    builder.Add({input, sums}, [=](const Step&) {
      std::copy_n(input->doubles(), input->count(), sums->doubles() + begin);
    });
    begin += input->count();
  }
  builder.AddReplicaSum(sums);
  begin = 0;
  for (const Tensor* output : outputs) {
    builder.Add({sums, output}, [=](const Step&) {
      std::copy_n(sums->doubles() + begin, output->count(), output->doubles());
    });
    begin += output->count();
  }
  return outputs[0];
}

}  // namespace paceline::cpu
