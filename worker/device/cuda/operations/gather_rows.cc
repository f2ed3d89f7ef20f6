#include "common/operations/gather_rows.h"

#include "worker/device/cuda/operations/operations.h"
#include "worker/device/program/operations/rows.h"

namespace paceline::cuda {

Tensor* AddGatherRows(const PlacedCall& call, ProgramBuilder& builder) {
  const Tensor* const table = call.inputs[0];
  const Tensor* const ids = call.inputs[1];
  Tensor* const output = OutputOf(call, builder);
  builder.AddKernel({table, ids, output}, output->count(), [=] {
    return GatherRows{RowSize(table->shape), ids->as<int32_t>(),
                      ValuesOf(table), ValuesOf(output)};
  });
  return output;
}

// Rows whose ids do not occur become zeros.
Tensor* AddSumRows(const PlacedCall& call, ProgramBuilder& builder) {
  const Tensor* const ids = call.inputs[0];
  const Tensor* const values = call.inputs[1];
  Tensor* const sums = call.output != nullptr
                           ? call.output
                           : builder.NewTensor<float>(call.output_type.shape);
  builder.Add({sums}, [=](Queue& queue) {
    queue.Zero(sums->data(),
               sums->count() * static_cast<int64_t>(sizeof(float)));
  });
  Tensor* const occurrences = builder.NewTensor<IdOccurrence>(ids->shape);
  builder.AddKernel({ids, occurrences}, ids->count(), [=] {
    return LinkIds{ids->count(), ids->as<int32_t>(),
                   occurrences->as<IdOccurrence>()};
  });
  builder.AddKernel({ids, occurrences, values, sums}, values->count(), [=] {
    return ScatterRows{RowSize(sums->shape), ids->as<int32_t>(),
                       occurrences->as<IdOccurrence>(), ValuesOf(values),
                       sums->floats()};
  });
  return sums;
}

}  // namespace paceline::cuda
