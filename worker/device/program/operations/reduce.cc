#include "common/operations/reduce.h"

#include <vector>

#include "worker/device/program/operations/operations.h"
#include "worker/device/row_geometry.h"

namespace paceline {
namespace {

// Neighbouring axes that are reduced together: the rows, and the shape of the
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

bool HasAxes(const op::Operation& operation,
             absl::Span<const op::TensorType> /*inputs*/) {
  return !static_cast<const op::ReduceOperation&>(operation).axes().empty();
}

// The result is float32 even if layers compute in a smaller type.
Tensor* AddReduce(const PlacedCall& call, LayoutBuilder& builder) {
  const auto& reduce = static_cast<const op::ReduceOperation&>(call.operation);
  const Tensor* from = call.inputs[0];
  const std::vector<Run> runs = RunsOf(from->shape, reduce.axes());
  const bool is_sum = reduce.reduction() == op::Reduction::kSum;
  Tensor* reduced = nullptr;
  for (size_t i = 0; i < runs.size(); ++i) {
    const bool is_last = i + 1 == runs.size();
    reduced = is_last && call.output != nullptr
                  ? call.output
                  : builder.NewTensor<float>(runs[i].shape);
    is_sum ? builder.AddRowSums(from, runs[i].rows, reduced)
           : builder.AddRowMaxima(from, runs[i].rows, reduced);
    from = reduced;
  }
  return reduced;
}

}  // namespace paceline
