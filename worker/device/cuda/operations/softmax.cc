#include "common/operations/softmax.h"

#include "worker/device/cuda/operations/operations.h"
#include "worker/device/program/operations/rows.h"

namespace paceline::cuda {
namespace {

// Indices of the kernels over all rows of `x`.
int64_t IndexCount(const RowParts& parts, const Tensor* x) {
  return x->count() / parts.rows.size * parts.parts;
}

Tensor* AddForward(bool is_log, const PlacedCall& call,
                   ProgramBuilder& builder) {
  const RowParts parts = PartsOf(RowsOf(call));
  const Tensor* const input = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  const int64_t indices = IndexCount(parts, input);
  Tensor* const sums = builder.NewTensor<ExpSum>({indices});
  const auto sums_of_parts = [=] {
    return ExpSums{parts, ValuesOf(input), sums->as<ExpSum>()};
  };
  if (parts.parts > 1) {
    builder.AddKernel({input, sums}, indices, sums_of_parts);
  }
  builder.AddKernel({input, sums, output}, indices, [=] {
    return SoftmaxForward{sums_of_parts(), is_log, ValuesOf(output)};
  });
  return output;
}

Tensor* AddBackward(bool is_log, const PlacedCall& call,
                    ProgramBuilder& builder) {
  const RowParts parts = PartsOf(RowsOf(call));
  const Tensor* const output = call.inputs[0];
  const Tensor* const output_gradient = call.inputs[1];
  Tensor* const input_gradient = InPlaceOutputOf(call, builder);
  const int64_t indices = IndexCount(parts, output);
  Tensor* const sums = builder.NewTensor<float>({indices});
  const auto sums_of_parts = [=] {
    return SoftmaxGradientSums{parts, is_log, ValuesOf(output),
                               ValuesOf(output_gradient), sums->floats()};
  };
  if (parts.parts > 1) {
    builder.AddKernel({output, output_gradient, sums}, indices, sums_of_parts);
  }
  builder.AddKernel(
      {output, output_gradient, sums, input_gradient}, indices, [=] {
        return SoftmaxBackward{sums_of_parts(), ValuesOf(input_gradient)};
      });
  return input_gradient;
}

}  // namespace

Tensor* AddSoftmax(const PlacedCall& call, ProgramBuilder& builder) {
  return AddForward(/*is_log=*/false, call, builder);
}

Tensor* AddLogSoftmax(const PlacedCall& call, ProgramBuilder& builder) {
  return AddForward(/*is_log=*/true, call, builder);
}

Tensor* AddSoftmaxGradient(const PlacedCall& call, ProgramBuilder& builder) {
  return AddBackward(/*is_log=*/false, call, builder);
}

Tensor* AddLogSoftmaxGradient(const PlacedCall& call, ProgramBuilder& builder) {
  return AddBackward(/*is_log=*/true, call, builder);
}

}  // namespace paceline::cuda
