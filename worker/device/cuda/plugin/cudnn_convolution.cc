#include "worker/device/cuda/plugin/cudnn_convolution.h"

#include <vector>

#include "common/base/status_macros.h"
#include "worker/device/cuda/plugin/cuda_status.h"
#include "worker/device/cuda/plugin/cudnn_status.h"
#include "worker/device/cuda/plugin/launch.h"

namespace paceline::cuda {

absl::Status CudnnConvolution::Enqueue(cudnnHandle_t handle,
                                       cudaStream_t stream,
                                       const ConvolutionBlocks& blocks) const {
  const ConvolutionShape& computed = algorithm_->computed;
  RETURN_IF_ERROR(ExecuteCudnnPlan(handle, plan_.plan, computed, blocks));
  if (computed == shape_) return absl::OkStatus();
  const auto& [y, x, channels] = shape_.windows;
  const int64_t count = shape_.batch * y.output * x.output * shape_.filters;
  return ToStatus(
      Launch(FourBlocks(count),
             BiasRelu{.count = count,
                      .has_relu = shape_.has_relu,
                      .channels = shape_.filters,
                      .bias = {shape_.has_bias ? blocks.bias : nullptr,
                               DataType::kFloat32},
                      .values = blocks.outputs},
             stream),
      "behind a convolution");
}

absl::Status ExecuteCudnnPlan(cudnnHandle_t handle, const CudnnDescriptor& plan,
                              const ConvolutionShape& computed,
                              const ConvolutionBlocks& blocks) {
  std::vector<int64_t> tensors = {kImagesTensor, kKernelTensor, kOutputsTensor};
  std::vector<void*> pointers = {blocks.images.data, blocks.kernel.data,
                                 blocks.outputs.data};
  if (computed.has_bias) {
    tensors.push_back(kBiasTensor);
    pointers.push_back(const_cast<float*>(blocks.bias));
  }
  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.SetAll<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, tensors);
  pack.SetAll<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, pointers);
  pack.Set<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, blocks.workspace);
  RETURN_IF_ERROR(pack.Finalize());
  return ToStatus(cudnnBackendExecute(handle, plan.get(), pack.get()),
                  "a convolution");
}

}  // namespace paceline::cuda
