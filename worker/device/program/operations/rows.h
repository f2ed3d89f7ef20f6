// Rows in the tensors of a call.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_ROWS_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_ROWS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "common/operations/softmax.h"
#include "common/tensor/shape.h"
#include "worker/device/program/operations/operation_table.h"
#include "worker/device/row_geometry.h"

namespace paceline {

// The rows of a RowOperation.
inline RowGeometry RowsOf(const PlacedCall& call) {
  return RowsAlong(call.output_type.shape,
                   static_cast<const op::RowOperation&>(call.operation).axis());
}

// Elements per row of a table of shape (rows, row shape...).
inline int64_t RowSize(const Shape& table) {
  return NumElements(absl::MakeSpan(table).subspan(1));
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_ROWS_H_
