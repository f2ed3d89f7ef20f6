// The operations that the CPU device implements itself. Each is in a file of
// its name, together with its gradient.
#ifndef PACELINE_WORKER_DEVICE_CPU_OPERATIONS_OPERATIONS_H_
#define PACELINE_WORKER_DEVICE_CPU_OPERATIONS_OPERATIONS_H_

#include "absl/types/span.h"
#include "worker/device/cpu/program_builder.h"
#include "worker/device/program/operations/operation_table.h"

namespace paceline::cpu {

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
// Whether AddConvolution can compute a convolution: if it does not rectify.
// oneDNN's rectifier turns NaN into 0, which would hide divergence.
ComputesOperation IsPlainConvolution;
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
// Whether AddMatrixProduct can compute a product. A bias or row sums must be
// those of two matrices that are not both transposed: a bias if the left is not
// transposed, row sums if it is.
ComputesOperation HasMatrixProduct;
AddOperation AddMatrixProduct;
AddOperation AddMaxPooling;
AddOperation AddMaxPoolingGradient;
// Whether the two functions below can compute a convolution: if it reads few
// elements per output, has stride 1, and is pooled by 2 x 2.
ComputesOperation IsSmallPooledConvolution;
ComputesOperation IsSmallPooledConvolutionGradient;
AddOperation AddPooledConvolution;
AddOperation AddPooledConvolutionKernelGradient;
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

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_OPERATIONS_OPERATIONS_H_
