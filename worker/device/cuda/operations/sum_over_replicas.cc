#include "common/operations/sum_over_replicas.h"

#include <cstdint>
#include <vector>

#include "glog/logging.h"
#include "worker/device/cuda/operations/operations.h"

namespace paceline::cuda {

// Of sums over a batch, which are float64: one tensor behind the other. A sum
// over one row copies.
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
    const int64_t size = input->count();
    builder.AddKernel({input, sums}, size, [=] {
      return ColumnSums<const double*, double>{1, size, 1, input->doubles(),
                                               sums->doubles() + begin};
    });
    begin += size;
  }
  builder.AddReplicaSum(sums);
  begin = 0;
  for (const Tensor* output : outputs) {
    const int64_t size = output->count();
    builder.AddKernel({sums, output}, size, [=] {
      return ColumnSums<const double*, double>{
          1, size, 1, sums->doubles() + begin, output->doubles()};
    });
    begin += size;
  }
  return outputs[0];
}

}  // namespace paceline::cuda
