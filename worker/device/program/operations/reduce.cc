#include "common/operations/reduce.h"

#include <vector>

#include "worker/device/program/operations/operations.h"
#include "worker/device/row_geometry.h"

namespace paceline {
namespace {

// Neighbouring axes that are summed together: the rows, and the shape of the
// axes after them.
struct Run {
  RowGeometry rows;
  Shape shape;
};

// The last run first, so that the axes after a run are still complete.
std::vector<Run> RunsOf(Shape shape, std::vector<int> axes) {
  std::vector<Run> runs;
  while (!axes.empty()) {
    const int last = axes.back();
    Run run{.rows = {.size = 1, .stride = RowsAlong(shape, last).stride},
            .shape = {}};
    for (int axis = last; !axes.empty() && axes.back() == axis; --axis) {
      run.rows.size *= shape[axis];
      shape[axis] = 1;
      axes.pop_back();
    }
    run.shape = shape;
    runs.push_back(run);
  }
  return runs;
}

}  // namespace

bool IsSum(const op::Operation& operation,
           absl::Span<const op::TensorType> /*inputs*/) {
  const auto& reduce = static_cast<const op::ReduceOperation&>(operation);
  return reduce.reduction() == op::Reduction::kSum && !reduce.axes().empty();
}

// Sums are float32 even if layers compute in a smaller type.
Tensor* AddReduce(const PlacedCall& call, LayoutBuilder& builder) {
  const auto& reduce = static_cast<const op::ReduceOperation&>(call.operation);
  const Tensor* from = call.inputs[0];
  const std::vector<Run> runs = RunsOf(from->shape, reduce.axes());
  Tensor* sums = nullptr;
  for (size_t i = 0; i < runs.size(); ++i) {
    const bool is_last = i + 1 == runs.size();
    sums = is_last && call.output != nullptr
               ? call.output
               : builder.NewTensor<float>(runs[i].shape);
    builder.AddRowSums(from, runs[i].rows, sums);
    from = sums;
  }
  return sums;
}

}  // namespace paceline
