// The operations that the CUDA device computes its own way. Each is in a file
// of its name, its gradient beside it.
#ifndef PACELINE_WORKER_DEVICE_CUDA_OPERATIONS_OPERATIONS_H_
#define PACELINE_WORKER_DEVICE_CUDA_OPERATIONS_OPERATIONS_H_

#include "absl/types/span.h"
#include "worker/device/cuda/program_builder.h"
#include "worker/device/program/operations/operation_table.h"

namespace paceline::cuda {

using AddOperation = ::paceline::AddOperation<ProgramBuilder>;

AddOperation AddArgMax;
AddOperation AddAveragePooling;
AddOperation AddAveragePoolingGradient;
AddOperation AddBatchMoments;
AddOperation AddCast;
AddOperation AddChannelNormalization;
// In channel_normalization.cc.
AddOperation AddChannelGradientSums;
AddOperation AddChannelNormalizationGradient;
// Which AddConvolution computes: those of single pixels, which are products, do
// not rectify.
ComputesOperation IsLibraryConvolution;
AddOperation AddConvolution;
AddOperation AddConvolutionInputGradient;
AddOperation AddConvolutionKernelGradient;
AddOperation AddDropoutMask;
AddOperation AddElementwise;
AddOperation AddGatherRows;
// In gather_rows.cc.
AddOperation AddSumRows;
AddOperation AddGroupNormalization;
AddOperation AddGroupNormalizationGradient;
AddOperation AddGroupNormalizationGammaGradient;
// Which AddMatrixProduct computes: of two matrices, not both with a bias and
// with sums of rows.
ComputesOperation IsOneProduct;
AddOperation AddMatrixProduct;
// Which AddMaxPooling and AddMaxPoolingGradient compute: those that do not
// rectify.
ComputesOperation IsPlainMaxPooling;
ComputesOperation IsPlainMaxPoolingGradient;
AddOperation AddMaxPooling;
AddOperation AddMaxPoolingGradient;
AddOperation AddResize;
AddOperation AddResizeGradient;
AddOperation AddSoftmax;
AddOperation AddSoftmaxGradient;
// In softmax.cc.
AddOperation AddLogSoftmax;
AddOperation AddLogSoftmaxGradient;

// All of them, and those of worker/device/program/operations.
absl::Span<const OperationEntry<ProgramBuilder>> Operations();

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_OPERATIONS_OPERATIONS_H_
