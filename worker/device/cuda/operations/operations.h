// The operations that the CUDA device implements itself. Each is in a file of
// its name, together with its gradient.
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
// Defined in channel_normalization.cc.
AddOperation AddChannelGradientSums;
AddOperation AddChannelNormalizationGradient;
// Whether AddConvolution can compute a convolution: a 1 x 1 convolution, which
// is a matrix product, must not rectify.
ComputesOperation IsLibraryConvolution;
AddOperation AddConvolution;
AddOperation AddConvolutionInputGradient;
AddOperation AddConvolutionKernelGradient;
AddOperation AddDropoutMask;
AddOperation AddElementwise;
AddOperation AddGatherRows;
// Defined in gather_rows.cc.
AddOperation AddSumRows;
AddOperation AddGroupNormalization;
AddOperation AddGroupNormalizationGradient;
AddOperation AddGroupNormalizationGammaGradient;
// Whether AddMatrixProduct can compute a product: of a batch of matrices
// without bias and row sums, of two matrices without both.
ComputesOperation HasMatrixProduct;
AddOperation AddMatrixProduct;
// Whether AddMaxPooling and AddMaxPoolingGradient can compute a pooling:
// without a rectifier.
ComputesOperation IsPlainMaxPooling;
ComputesOperation IsPlainMaxPoolingGradient;
AddOperation AddMaxPooling;
AddOperation AddMaxPoolingGradient;
AddOperation AddRandomNormal;
AddOperation AddResize;
AddOperation AddResizeGradient;
AddOperation AddSoftmax;
AddOperation AddSoftmaxGradient;
// Defined in softmax.cc.
AddOperation AddLogSoftmax;
AddOperation AddLogSoftmaxGradient;

// All these operations, and those of worker/device/program/operations.
absl::Span<const OperationEntry<ProgramBuilder>> Operations();

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_OPERATIONS_OPERATIONS_H_
