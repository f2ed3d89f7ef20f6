#include "common/operations/gather_rows.h"

#include <algorithm>

#include "glog/logging.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {
namespace {

// Elements per row of a table.
int64_t RowSize(const Array& table) {
  return NumElements(absl::MakeConstSpan(table.shape()).subspan(1));
}

// CHECK-fails if the id is out of range.
int64_t CheckedRow(int32_t id, const Array& table) {
  CHECK(id >= 0 && id < table.shape()[0])
      << "id " << id << " of " << table.shape()[0] << " rows";
  return id;
}

}  // namespace

void EvaluateGatherRows(const op::Operation& /*operation*/,
                        const Evaluation& evaluation) {
  const Array& table = evaluation.input(0);
  const absl::Span<const int32_t> ids = evaluation.input(1).values<int32_t>();
  const int64_t size = RowSize(table);
  WithType(table.data_type(), [&](auto zero) {
    using T = decltype(zero);
    auto to = evaluation.output().values<T>().begin();
    for (const int32_t id : ids) {
      to = std::copy_n(table.values<T>().begin() + CheckedRow(id, table) * size,
                       size, to);
    }
  });
}

void EvaluateSumRows(const op::Operation& /*operation*/,
                     const Evaluation& evaluation) {
  const absl::Span<const int32_t> ids = evaluation.input(0).values<int32_t>();
  Array& table = evaluation.output();
  const int64_t size = RowSize(table);
  WithNumberType(table.data_type(), [&](auto zero) {
    using T = decltype(zero);
    auto from = evaluation.input(1).values<T>().begin();
    for (const int32_t id : ids) {
      T* const row = &table.values<T>()[CheckedRow(id, table) * size];
      for (int64_t i = 0; i < size; ++i) row[i] += *from++;
    }
  });
}

}  // namespace paceline::reference
