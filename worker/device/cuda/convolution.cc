#include "worker/device/cuda/convolution.h"

#include "worker/device/cuda/windows_of.h"

namespace paceline::cuda {

bool Convolution::is_pointwise() const {
  return windows_.y.size == 1 && windows_.x.size == 1 &&
         windows_.y.stride == 1 && windows_.x.stride == 1;
}

Tensor* Convolution::AddForward(Tensor* input, ProgramBuilder& builder) {
  input_ = input;
  const Shape& images = input->shape;
  windows_ = WindowsOf(spec_.windows, {images[1], images[2], images[3]});
  Tensor* const output = builder.NewTensor(
      {images[0], windows_.y.output, windows_.x.output, spec_.filters});
  const Tensor* const kernel = builder.variable(spec_.kernel);
  pixels_ = output->count() / spec_.filters;
  if (is_grouped()) {
    builder.AddKernel({input, output}, output->count(), [=, groups = groups()] {
      return ConvolveGroups{groups, input->floats(), kernel->floats(),
                            output->floats()};
    });
  } else {
    builder.AddProduct(
        Patches(builder), kernel, output,
        {.rows = pixels_, .columns = spec_.filters, .inner = patch_size()});
  }
  return output;
}

const Tensor* Convolution::Patches(ProgramBuilder& builder) const {
  if (is_pointwise()) return input_;
  Tensor* const patches = builder.NewTensor({pixels_, patch_size()});
  builder.AddKernel(
      {input_, patches}, patches->count(),
      [=, windows = windows_, input = input_] {
        return GatherPatches{windows, input->floats(), patches->floats()};
      });
  return patches;
}

void Convolution::AddKernelGradient(const Tensor* gradient,
                                    ProgramBuilder& builder) {
  if (!builder.is_trained(spec_.kernel)) return;
  Tensor* const result = builder.gradient(spec_.kernel);
  if (is_grouped()) {
    AddGroupedKernelGradient(gradient, result, builder);
  } else {
    builder.AddProduct(Patches(builder), gradient, result,
                       {.rows = patch_size(),
                        .columns = spec_.filters,
                        .inner = pixels_,
                        .left_is_transposed = true});
  }
  builder.FinishGradient(spec_.kernel);
}

void Convolution::AddGroupedKernelGradient(const Tensor* gradient,
                                           Tensor* result,
                                           ProgramBuilder& builder) const {
  const int64_t parts = PartCount(pixels_);
  const int64_t elements = result->count();
  Tensor* const sums = builder.NewTensor<double>({parts, elements});
  builder.AddKernel(
      {input_, gradient, sums}, sums->count(),
      [=, groups = groups(), pixels = pixels_, input = input_] {
        return ConvolveGroupsKernelGradient{
            groups,         pixels, parts, input->floats(), gradient->floats(),
            sums->doubles()};
      });
  builder.AddKernel({sums}, elements, [=] {
    return ColumnSums<double, float>{parts, elements, 1, sums->doubles(),
                                     result->floats()};
  });
}

Tensor* Convolution::AddInputGradient(const Tensor* gradient,
                                      ProgramBuilder& builder) {
  Tensor* const input_gradient = builder.NewTensor(input_->shape);
  if (is_grouped()) {
    builder.AddKernel(
        {gradient, input_gradient}, input_gradient->count(),
        [=, groups = groups(), kernel = builder.variable(spec_.kernel)] {
          return ConvolveGroupsInputGradient{groups, kernel->floats(),
                                             gradient->floats(),
                                             input_gradient->floats()};
        });
  } else {
    AddPatchGradient(gradient, input_gradient, builder);
  }
  return input_gradient;
}

void Convolution::AddPatchGradient(const Tensor* gradient,
                                   Tensor* input_gradient,
                                   ProgramBuilder& builder) const {
  Tensor* const patches = is_pointwise()
                              ? input_gradient
                              : builder.NewTensor({pixels_, patch_size()});
  builder.AddProduct(gradient, builder.variable(spec_.kernel), patches,
                     {.rows = pixels_,
                      .columns = patch_size(),
                      .inner = spec_.filters,
                      .right_is_transposed = true});
  if (is_pointwise()) return;
  builder.AddKernel(
      {patches, input_gradient}, input_gradient->count(),
      [=, windows = windows_] {
        return SumPatches{windows, patches->floats(), input_gradient->floats()};
      });
}

}  // namespace paceline::cuda
