#include "common/operations/softmax.h"

#include "worker/device/cuda/operations/operations.h"
#include "worker/device/program/operations/rows.h"

namespace paceline::cuda {
namespace {

Tensor* AddForward(bool is_log, const PlacedCall& call,
                   ProgramBuilder& builder) {
  const RowGeometry rows = RowsOf(call);
  const Tensor* const input = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  builder.AddKernel({input, output}, input->count() / rows.size, [=] {
    return SoftmaxForward{rows, is_log, ValuesOf(input), ValuesOf(output)};
  });
  return output;
}

Tensor* AddBackward(bool is_log, const PlacedCall& call,
                    ProgramBuilder& builder) {
  const RowGeometry rows = RowsOf(call);
  const Tensor* const output = call.inputs[0];
  const Tensor* const output_gradient = call.inputs[1];
  Tensor* const input_gradient = InPlaceOutputOf(call, builder);
  builder.AddKernel({output, output_gradient, input_gradient},
                    output->count() / rows.size, [=] {
                      return SoftmaxBackward{rows, is_log, ValuesOf(output),
                                             ValuesOf(output_gradient),
                                             ValuesOf(input_gradient)};
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
