#include "common/operations/softmax.h"

#include "worker/device/cpu/kernels/softmax.h"
#include "worker/device/cpu/operations/operations.h"
#include "worker/device/program/operations/rows.h"

namespace paceline::cpu {
namespace {

using Forward = void(const RowGeometry& rows, int64_t begin, int64_t end,
                     const float* inputs, float* outputs);

Tensor* AddForward(Forward* forward, const PlacedCall& call,
                   ProgramBuilder& builder) {
  const RowGeometry rows = RowsOf(call);
  const Tensor* const input = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  builder.AddParallel({input, output}, input->count() / rows.size, rows.size,
                      [=](int64_t begin, int64_t end) {
                        forward(rows, begin, end, input->floats(),
                                output->floats());
                      });
  return output;
}

using Backward = void(const RowGeometry& rows, int64_t begin, int64_t end,
                      const float* outputs, const float* output_gradients,
                      float* input_gradients);

Tensor* AddBackward(Backward* backward, const PlacedCall& call,
                    ProgramBuilder& builder) {
  const RowGeometry rows = RowsOf(call);
  const Tensor* const output = call.inputs[0];
  const Tensor* const output_gradient = call.inputs[1];
  Tensor* const input_gradient = InPlaceOutputOf(call, builder);
  builder.AddParallel(
      {output, output_gradient, input_gradient}, output->count() / rows.size,
      rows.size, [=](int64_t begin, int64_t end) {
        backward(rows, begin, end, output->floats(), output_gradient->floats(),
                 input_gradient->floats());
      });
  return input_gradient;
}

}  // namespace

Tensor* AddSoftmax(const PlacedCall& call, ProgramBuilder& builder) {
  return AddForward(SoftmaxForward, call, builder);
}

Tensor* AddLogSoftmax(const PlacedCall& call, ProgramBuilder& builder) {
  return AddForward(LogSoftmaxForward, call, builder);
}

Tensor* AddSoftmaxGradient(const PlacedCall& call, ProgramBuilder& builder) {
  return AddBackward(SoftmaxBackward, call, builder);
}

Tensor* AddLogSoftmaxGradient(const PlacedCall& call, ProgramBuilder& builder) {
  return AddBackward(LogSoftmaxBackward, call, builder);
}

}  // namespace paceline::cpu
