// The list of all own kernels.
//
// The body of a kernel is a functor of an index that has pointers to blocks of
// data. The same body runs on a GPU, with one thread per index, and on the CPU,
// where tests compare it with the reference device. No two indices write the
// same element (except flags, to which all write the same value), and each
// index adds in a fixed order. So a repeat gives the same bits, no matter how
// indices are assigned to threads.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_KERNEL_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_KERNEL_H_

#include <variant>

#include "common/base/joined_variant.h"
#include "common/optimizer/optimizers.h"
#include "worker/device/cuda/kernels/accumulate_gradients.h"
#include "worker/device/cuda/kernels/arg_max.h"
#include "worker/device/cuda/kernels/arithmetic.h"
#include "worker/device/cuda/kernels/average_variables.h"
#include "worker/device/cuda/kernels/batch_normalization.h"
#include "worker/device/cuda/kernels/bias_relu.h"
#include "worker/device/cuda/kernels/blend.h"
#include "worker/device/cuda/kernels/box.h"
#include "worker/device/cuda/kernels/clipping.h"
#include "worker/device/cuda/kernels/constrain.h"
#include "worker/device/cuda/kernels/dropout.h"
#include "worker/device/cuda/kernels/elementwise.h"
#include "worker/device/cuda/kernels/embedding.h"
#include "worker/device/cuda/kernels/group_normalization.h"
#include "worker/device/cuda/kernels/loss_scale.h"
#include "worker/device/cuda/kernels/pooling.h"
#include "worker/device/cuda/kernels/random_normal.h"
#include "worker/device/cuda/kernels/regularization.h"
#include "worker/device/cuda/kernels/softmax.h"
#include "worker/device/cuda/kernels/sums.h"
#include "worker/device/cuda/kernels/transpose.h"
#include "worker/device/cuda/kernels/update_kernels.h"

namespace paceline::cuda {

// All kernels but those of optimizers' formulas.
using OtherKernels = std::variant<
    DeltasUpdate, AccumulateGradients, AverageVariables, UnscaleGradients,
    DropOverflow, CountLoss, AdaptLossScale, SquareSums, ClipFactor,
    ScaleElements, ConstrainNorms, ConstrainToNonNegative, InvertNorm,
    CombineElements, BiasRelu, ColumnSums<float>, ColumnSums<double>,
    SumsOfDoubles<double>, SumsOfDoubles<float>, AddToTotal, AddToStates,
    AddPenaltyGradient, PenaltySums, WriteRegularizationScale,
    WriteGradientScales, ArgMaxOfRows, ExpSums, SoftmaxForward,
    SoftmaxGradientSums, SoftmaxBackward, MaxPool, MaxPoolPositions,
    MaxPoolBackward, AveragePool, AveragePoolBackward, Transpose, PermuteAxes,
    DrawDropoutMask, DrawNormal, ShiftedSums, WriteMoments, WriteStatistics,
    TakeMoments, MakeChannelLines<float>, MakeChannelLines<double>, Normalize,
    NormalizeGradientSums, SumGradientParts, ChannelSlopes, NormalizeBackward,
    GroupPartMoments, GroupMoments, NormalizeGroups, GroupColumnSums,
    GroupPartSlopes, GroupSlopes, NormalizeGroupsBackward, CopyElements,
    CastToInt32, ComputeElementwise, ApplyFunction, RectifyGradients,
    RowPartSums, RowPartMaxima, ReadBox, WriteBox, PadBox, GatherRows, LinkIds,
    ScatterRows, BlendImages, BlendImagesBackward>;

using Kernel =
    JoinedVariant<UpdateKernels<Optimizers::Formula>::Type, OtherKernels>;

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_KERNEL_H_
