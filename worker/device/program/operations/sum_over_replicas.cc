#include "common/operations/sum_over_replicas.h"

#include <cstdint>
#include <vector>

#include "worker/device/program/operations/operations.h"

namespace paceline {

// All tensors are concatenated, so that replicas all-reduce once. They are sums
// over a batch, in float64.
Tensor* AddSumOverReplicas(const PlacedCall& call, LayoutBuilder& builder) {
  std::vector<Tensor*> outputs = {OutputOf(call, builder)};
  outputs.insert(outputs.end(), call.more_outputs.begin(),
                 call.more_outputs.end());
  int64_t count = 0;
  for (const Tensor* output : outputs) count += output->count();
  Tensor* const sums = builder.NewTensor<double>({count});
  int64_t begin = 0;
  for (const Tensor* input : call.inputs) {
    builder.AddDoublesCopy(input, 0, sums, begin, input->count());
    begin += input->count();
  }
  builder.AddSumAllReduce(sums);
  begin = 0;
  for (const Tensor* output : outputs) {
    builder.AddDoublesCopy(sums, begin, output, 0, output->count());
    begin += output->count();
  }
  return outputs[0];
}

}  // namespace paceline
