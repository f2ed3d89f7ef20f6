#include "common/operations/resize.h"

#include <algorithm>
#include <vector>

#include "worker/device/cuda/operations/operations.h"

namespace paceline::cuda {
namespace {

std::vector<AxisBlend> BlendsOf(op::ResizeMode mode, int64_t small,
                                int64_t large) {
  std::vector<AxisBlend> blends;
  for (const op::ResizedElement& element :
       op::ResizedElements(mode, small, large)) {
    blends.push_back({element.lower, element.upper,
                      static_cast<float>(element.upper_share)});
  }
  return blends;
}

// For each of the `small` inputs: the range of outputs that read it.
std::vector<AxisReaders> ReadersOf(const std::vector<AxisBlend>& blends,
                                   int64_t small) {
  const auto count = static_cast<int64_t>(blends.size());
  std::vector<AxisReaders> readers(small, {count, 0});
  for (int64_t reader = 0; reader < count; ++reader) {
    for (const int64_t i : {blends[reader].lower, blends[reader].upper}) {
      readers[i].begin = std::min(readers[i].begin, reader);
      readers[i].end = reader + 1;
    }
  }
  return readers;
}

// Call it when the operation is enqueued, since tensors have addresses only
// then.
BlendGeometry GeometryOf(const Shape& small, const Shape& large,
                         const Tensor* rows, const Tensor* columns) {
  return {.height = small[1],
          .width = small[2],
          .output_height = large[1],
          .output_width = large[2],
          .channels = small[3],
          .rows = rows->as<AxisBlend>(),
          .columns = columns->as<AxisBlend>()};
}

}  // namespace

Tensor* AddResize(const PlacedCall& call, ProgramBuilder& builder) {
  const auto mode =
      static_cast<const op::ResizeOperation&>(call.operation).mode();
  const Tensor* const input = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  const Shape& small = input->shape;
  const Shape& large = output->shape;
  const Tensor* const rows =
      builder.NewConstant(BlendsOf(mode, small[1], large[1]));
  const Tensor* const columns =
      builder.NewConstant(BlendsOf(mode, small[2], large[2]));
  builder.AddKernel({input, output}, output->count(), [=] {
    return BlendImages{GeometryOf(input->shape, output->shape, rows, columns),
                       ValuesOf(input), ValuesOf(output)};
  });
  return output;
}

Tensor* AddResizeGradient(const PlacedCall& call, ProgramBuilder& builder) {
  const auto mode =
      static_cast<const op::ResizeGradientOperation&>(call.operation).mode();
  const Tensor* const gradient = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  const Shape& small = output->shape;
  const Shape& large = gradient->shape;
  const std::vector<AxisBlend> row_blends = BlendsOf(mode, small[1], large[1]);
  const std::vector<AxisBlend> column_blends =
      BlendsOf(mode, small[2], large[2]);
  const Tensor* const rows = builder.NewConstant(row_blends);
  const Tensor* const columns = builder.NewConstant(column_blends);
  const Tensor* const row_readers =
      builder.NewConstant(ReadersOf(row_blends, small[1]));
  const Tensor* const column_readers =
      builder.NewConstant(ReadersOf(column_blends, small[2]));
  builder.AddKernel({gradient, output}, output->count(), [=] {
    return BlendImagesBackward{
        GeometryOf(output->shape, gradient->shape, rows, columns),
        row_readers->as<AxisReaders>(), column_readers->as<AxisReaders>(),
        ValuesOf(gradient), ValuesOf(output)};
  });
  return output;
}

}  // namespace paceline::cuda
