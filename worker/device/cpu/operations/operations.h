// The operations that the CPU device computes its own way. Each is in a file of
// its name, its gradient beside it.
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
// In channel_normalization.cc.
AddOperation AddChannelGradientSums;
AddOperation AddChannelNormalizationGradient;
// Which AddConvolution computes: those that do not rectify. oneDNN's rectifier
// makes 0 of NaN, and would hide what diverged.
ComputesOperation IsPlainConvolution;
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
// Which AddMatrixProduct computes: of two matrices, not both transposed; a bias
// with none or the right one, sums of rows with the left one.
ComputesOperation IsInnerProduct;
AddOperation AddMatrixProduct;
AddOperation AddMaxPooling;
AddOperation AddMaxPoolingGradient;
// Which the two below compute: those that read few elements for each element of
// the convolution, move by one pixel, and are pooled by 2 x 2.
ComputesOperation IsSmallPooledConvolution;
ComputesOperation IsSmallPooledConvolutionGradient;
AddOperation AddPooledConvolution;
AddOperation AddPooledConvolutionKernelGradient;
AddOperation AddResize;
AddOperation AddResizeGradient;
AddOperation AddSoftmax;
AddOperation AddSoftmaxGradient;
// In softmax.cc.
AddOperation AddLogSoftmax;
AddOperation AddLogSoftmaxGradient;

// All of them, and those of worker/device/program/operations.
absl::Span<const OperationEntry<ProgramBuilder>> Operations();

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_OPERATIONS_OPERATIONS_H_
