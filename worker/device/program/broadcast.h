// How a merge reads inputs that are smaller than its output: axes of size 1, or
// missing ones behind the batch, are repeated.
//
// Axes beside each other that are repeated are one run. With the axes behind it
// whole, a run repeats each element of the smaller tensor along one row of the
// larger one, so that a RowGeometry says it all.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_BROADCAST_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_BROADCAST_H_

#include "absl/types/span.h"
#include "common/tensor/shape.h"
#include "worker/device/program/layout_builder.h"
#include "worker/device/program/tensor.h"

namespace paceline {

// LayoutBuilder::AddSum or AddElementProduct.
using MergeOperation = void (LayoutBuilder::*)(const Tensor* a, const Tensor* b,
                                               const RowGeometry& rows,
                                               const Tensor* result);

// A new tensor of `shape`: the operands, each as it is or repeated, merged in
// their order, but for the first of that shape, which leads.
Tensor* AddMerge(MergeOperation operation, absl::Span<Tensor* const> operands,
                 const Shape& shape, LayoutBuilder& builder);

// The gradient by an input of `shape`: that by its repetition, summed up over
// what was repeated. The tensor itself if nothing was.
Tensor* AddSumOfRepetitions(Tensor* gradient, const Shape& shape,
                            LayoutBuilder& builder);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_BROADCAST_H_
