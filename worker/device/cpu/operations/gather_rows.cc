#include "common/operations/gather_rows.h"

#include <algorithm>

#include "worker/device/cpu/operations/operations.h"
#include "worker/device/program/operations/rows.h"

namespace paceline::cpu {

Tensor* AddGatherRows(const PlacedCall& call, ProgramBuilder& builder) {
  const Tensor* const table = call.inputs[0];
  const Tensor* const ids = call.inputs[1];
  Tensor* const output = OutputOf(call, builder);
  const int64_t size = RowSize(table->shape);
  builder.AddParallel({table, ids, output}, ids->count(), size,
                      [=](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) {
                          const int64_t id = ids->as<int32_t>()[i];
                          std::copy_n(table->floats() + id * size, size,
                                      output->floats() + i * size);
                        }
                      });
  return output;
}

// Each thread takes some of the columns, and adds them up in the order of the
// ids.
Tensor* AddSumRows(const PlacedCall& call, ProgramBuilder& builder) {
  const Tensor* const ids = call.inputs[0];
  const Tensor* const values = call.inputs[1];
  Tensor* const sums = OutputOf(call, builder);
  builder.AddParallel(
      {sums}, sums->count(), 1, [=](int64_t begin, int64_t end) {
        std::fill(sums->floats() + begin, sums->floats() + end, 0.0f);
      });
  const int64_t size = RowSize(sums->shape);
  builder.AddParallel(
      {ids, values, sums}, size, ids->count(), [=](int64_t begin, int64_t end) {
        for (int64_t i = 0; i < ids->count(); ++i) {
          const int64_t id = ids->as<int32_t>()[i];
          float* const sum = sums->floats() + id * size;
          const float* const value = values->floats() + i * size;
          for (int64_t c = begin; c < end; ++c) sum[c] += value[c];
        }
      });
  return sums;
}

}  // namespace paceline::cpu
