#include "common/operations/pooled_convolution.h"

#include <algorithm>
#include <cstdint>

#include "worker/device/cpu/kernels/pooled_convolution.h"
#include "worker/device/cpu/operations/operations.h"

// Own kernels for convolutions that read few elements per output, where memory
// traffic dominates. For others oneDNN's kernels save more time than the
// fusion.
namespace paceline::cpu {
namespace {

// Input elements per convolution output, at most.
constexpr int64_t kMaxPatch = 32;
// The images of a batch are divided into at most this many parts. Each part has
// its own sum of gradients, so the bits do not depend on the number of threads.
constexpr int64_t kMaxParts = 16;

// Whether the convolution has stride 1 along this axis.
bool IsDense(const op::WindowAxis& axis) {
  return axis.stride == 1 && axis.dilation == 1;
}
// Whether pooling windows have two adjacent pixels and do not overlap.
bool IsHalving(const op::WindowAxis& axis) {
  return axis.size == 2 && axis.stride == 2 && axis.dilation == 1 &&
         axis.pad_before == 0 && axis.pad_after <= 0;
}

bool IsSmall(const op::PooledConvolutionParameters& parameters,
             const Shape& input, int64_t filters) {
  const op::Window2D& window = parameters.convolution.window;
  return parameters.convolution.groups == 1 &&
         window[0].size * window[1].size * input.back() <= kMaxPatch &&
         filters % PooledConvolution::kFilters == 0 &&
         std::all_of(window.begin(), window.end(), IsDense) &&
         std::all_of(parameters.pooling.begin(), parameters.pooling.end(),
                     IsHalving);
}

PooledConvolution KernelOf(const op::PooledConvolutionParameters& parameters,
                           const Shape& input, const Shape& output) {
  const auto& [vertical, horizontal] = parameters.convolution.window;
  return {.height = input[1],
          .width = input[2],
          .channels = input[3],
          .kernel_height = vertical.size,
          .kernel_width = horizontal.size,
          .filters = output[3],
          .pad_top = vertical.pad_before,
          .pad_left = horizontal.pad_before,
          .rows = output[1],
          .columns = output[2]};
}

// Multiplications per image.
int64_t WorkOf(const PooledConvolution& convolution) {
  return 4 * convolution.output_size() * convolution.patch_size();
}

}  // namespace

bool IsSmallPooledConvolution(const op::Operation& operation,
                              absl::Span<const op::TensorType> inputs) {
  return IsSmall(static_cast<const op::PooledConvolutionOperation&>(operation)
                     .parameters(),
                 inputs[0].shape, inputs[1].shape.back());
}

bool IsSmallPooledConvolutionGradient(const op::Operation& operation,
                                      absl::Span<const op::TensorType> inputs) {
  return IsSmall(
      static_cast<const op::PooledConvolutionKernelGradientOperation&>(
          operation)
          .parameters(),
      inputs[0].shape, inputs[1].shape.back());
}

Tensor* AddPooledConvolution(const PlacedCall& call, ProgramBuilder& builder) {
  const auto& operation =
      static_cast<const op::PooledConvolutionOperation&>(call.operation);
  const Tensor* const input =
      builder.Converted(call.inputs[0], DataType::kFloat32);
  const Tensor* const kernel = call.inputs[1];
  const Tensor* const bias = operation.has_bias() ? call.inputs[2] : nullptr;
  Tensor* const output = OutputOf(call, builder);
  const Tensor* const positions =
      operation.has_positions() ? call.more_outputs[0] : nullptr;
  const PooledConvolution convolution =
      KernelOf(operation.parameters(), input->shape, output->shape);
  std::vector<const Tensor*> used = {input, kernel, output};
  if (bias != nullptr) used.push_back(bias);
  if (positions != nullptr) used.push_back(positions);
  builder.AddParallel(
      used, input->shape[0], WorkOf(convolution),
      [=](int64_t begin, int64_t end) {
        PooledConvolutionForward(
            convolution, begin, end, input->floats(), kernel->floats(),
            bias == nullptr ? nullptr : bias->floats(), output->floats(),
            positions == nullptr ? nullptr : positions->as<int32_t>());
      });
  return output;
}

Tensor* AddPooledConvolutionKernelGradient(const PlacedCall& call,
                                           ProgramBuilder& builder) {
  const auto& operation =
      static_cast<const op::PooledConvolutionKernelGradientOperation&>(
          call.operation);
  const Tensor* const input =
      builder.Converted(call.inputs[0], DataType::kFloat32);
  const Tensor* const positions = call.inputs[1];
  const Tensor* const output_gradient = call.inputs[2];
  Tensor* const kernel_gradient = OutputOf(call, builder);
  const Tensor* const bias_gradient =
      operation.has_row_sum() ? call.more_outputs[0] : nullptr;
  const int64_t filters = output_gradient->shape.back();
  const PooledConvolution convolution =
      KernelOf(operation.parameters(), input->shape, output_gradient->shape);
  const int64_t batch = input->shape[0];
  const int64_t parts = std::min(batch, kMaxParts);
  // Per part: the kernel's gradient, then the bias's.
  const int64_t kernel_size = kernel_gradient->count();
  const int64_t part_size = kernel_size + filters;
  Tensor* const sums = builder.NewTensor({parts, part_size});
  builder.AddParallel(
      {input, positions, output_gradient, sums}, parts,
      WorkOf(convolution) * batch / parts, [=](int64_t begin, int64_t end) {
        for (int64_t part = begin; part < end; ++part) {
          float* const sum = sums->floats() + part * part_size;
          std::fill_n(sum, part_size, 0.0f);
          PooledConvolutionKernelGradient(
              convolution, batch * part / parts, batch * (part + 1) / parts,
              input->floats(), positions->as<int32_t>(),
              output_gradient->floats(), sum, sum + kernel_size);
        }
      });
  std::vector<const Tensor*> used = {sums, kernel_gradient};
  if (bias_gradient != nullptr) used.push_back(bias_gradient);
  builder.Add(used, [=](const Step&) {
    const auto add_up = [&](int64_t offset, const Tensor* to) {
      std::copy_n(sums->floats() + offset, to->count(), to->floats());
      for (int64_t part = 1; part < parts; ++part) {
        const float* const more = sums->floats() + part * part_size + offset;
        for (int64_t i = 0; i < to->count(); ++i) to->floats()[i] += more[i];
      }
    };
    add_up(0, kernel_gradient);
    if (bias_gradient != nullptr) add_up(kernel_size, bias_gradient);
  });
  return kernel_gradient;
}

}  // namespace paceline::cpu
