#include "worker/device/program/broadcast.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace paceline {
namespace {

struct Repetition {
  // Of the larger tensor: each is one element of the smaller.
  RowGeometry rows;
  // Of both.
  Shape from;
  Shape to;
};

// Run after run from the last axes on, so that what is behind a run is whole.
// Both shapes have a batch.
std::vector<Repetition> RepetitionsOf(Shape from, const Shape& to) {
  from.insert(from.begin() + 1, to.size() - from.size(), 1);
  std::vector<Repetition> repetitions;
  int64_t behind = 1;
  // Axis 0, the batch, is one and the same.
  for (size_t axis = to.size(); axis-- > 1;) {
    if (from[axis] == to[axis]) {
      behind *= to[axis];
      continue;
    }
    Repetition run{{.size = 1, .stride = behind}, from, {}};
    for (; axis > 0 && from[axis] == 1; --axis) {
      from[axis] = to[axis];
      run.rows.size *= to[axis];
    }
    ++axis;
    behind *= run.rows.size;
    run.to = from;
    repetitions.push_back(std::move(run));
  }
  return repetitions;
}

const Tensor* AddRepetition(const Tensor* from, const Repetition& repetition,
                            LayoutBuilder& builder) {
  Tensor* const to = builder.NewTensor(repetition.to);
  builder.AddRepeat(from, repetition.rows, to);
  return to;
}

}  // namespace

Tensor* AddMerge(MergeOperation operation, absl::Span<Tensor* const> operands,
                 const Shape& shape, LayoutBuilder& builder) {
  size_t leader = 0;
  for (size_t i = operands.size(); i-- > 0;) {
    if (operands[i]->shape == shape) leader = i;
  }
  const Tensor* merged = operands[leader];
  for (const Repetition& each : RepetitionsOf(merged->shape, shape)) {
    merged = AddRepetition(merged, each, builder);
  }
  Tensor* const result = builder.NewTensor(shape);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i == leader) continue;
    const Tensor* operand = operands[i];
    // The last one is left to the operation.
    RowGeometry rows = kSingleElements;
    std::vector<Repetition> repetitions = RepetitionsOf(operand->shape, shape);
    if (!repetitions.empty()) {
      rows = repetitions.back().rows;
      repetitions.pop_back();
    }
    for (const Repetition& each : repetitions) {
      operand = AddRepetition(operand, each, builder);
    }
    (builder.*operation)(merged, operand, rows, result);
    merged = result;
  }
  return result;
}

Tensor* AddSumOfRepetitions(Tensor* gradient, const Shape& shape,
                            LayoutBuilder& builder) {
  const std::vector<Repetition> repetitions =
      RepetitionsOf(shape, gradient->shape);
  for (size_t i = repetitions.size(); i-- > 0;) {
    Tensor* const sums =
        builder.NewTensor(i == 0 ? shape : repetitions[i].from);
    builder.AddRowSums(gradient, repetitions[i].rows, sums);
    gradient = sums;
  }
  return gradient;
}

}  // namespace paceline
