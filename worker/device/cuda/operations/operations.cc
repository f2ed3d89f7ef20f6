#include "worker/device/cuda/operations/operations.h"

#include "common/operations/batch_moments.h"
#include "common/operations/cast.h"
#include "common/operations/channel_normalization.h"
#include "common/operations/concatenate.h"
#include "common/operations/constant.h"
#include "common/operations/convolution.h"
#include "common/operations/elementwise.h"
#include "common/operations/gather_rows.h"
#include "common/operations/group_normalization.h"
#include "common/operations/iota.h"
#include "common/operations/matrix_product.h"
#include "common/operations/pad.h"
#include "common/operations/pooling.h"
#include "common/operations/random.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/resize.h"
#include "common/operations/reverse.h"
#include "common/operations/scan.h"
#include "common/operations/slice.h"
#include "common/operations/softmax.h"
#include "common/operations/sum_over_replicas.h"
#include "common/operations/transpose.h"
#include "worker/device/program/operations/input_types.h"
#include "worker/device/program/operations/operations.h"

namespace paceline::cuda {
namespace {

constexpr OperationEntry<ProgramBuilder> kOperations[] = {
    {op::ArgMaxOperation::kName, AddArgMax},
    {op::AveragePoolingOperation::kName, AddAveragePooling},
    {op::AveragePoolingGradientOperation::kName, AddAveragePoolingGradient},
    {op::BatchMomentsOperation::kName, AddBatchMoments},
    {op::CastOperation::kName, AddCast, IsCastToIdsOrOfSums, AreAnyTypes},
    {op::ChannelGradientSumsOperation::kName, AddChannelGradientSums, nullptr,
     BeginWithFloats},
    {op::ChannelNormalizationOperation::kName, AddChannelNormalization, nullptr,
     BeginWithFloats},
    {op::ChannelNormalizationGradientOperation::kName,
     AddChannelNormalizationGradient, nullptr, BeginWithFloats},
    {op::ConcatenateOperation::kName, AddShared<AddConcatenate>},
    {op::ConstantOperation::kName, AddShared<AddConstant>, IsFloatConstant},
    {op::ConvolutionOperation::kName, AddConvolution, IsLibraryConvolution},
    {op::ConvolutionInputGradientOperation::kName, AddConvolutionInputGradient},
    {op::ConvolutionKernelGradientOperation::kName,
     AddConvolutionKernelGradient},
    {op::DropoutMaskOperation::kName, AddDropoutMask},
    {op::ElementwiseOperation::kName, AddElementwise, nullptr,
     AreFloatsIdsOrBools},
    {op::GatherRowsOperation::kName, AddGatherRows, nullptr, BeginWithFloats},
    {op::GroupNormalizationOperation::kName, AddGroupNormalization},
    {op::GroupNormalizationGradientOperation::kName,
     AddGroupNormalizationGradient},
    {op::GroupNormalizationGammaGradientOperation::kName,
     AddGroupNormalizationGammaGradient},
    {op::IotaOperation::kName, AddShared<AddIota>, IsFloatIota},
    {op::LogSoftmaxOperation::kName, AddLogSoftmax},
    {op::LogSoftmaxGradientOperation::kName, AddLogSoftmaxGradient},
    {op::MatrixProductOperation::kName, AddMatrixProduct, HasMatrixProduct},
    {op::MaxPoolingOperation::kName, AddMaxPooling, IsPlainMaxPooling},
    {op::MaxPoolingGradientOperation::kName, AddMaxPoolingGradient,
     IsPlainMaxPoolingGradient},
    {op::PadOperation::kName, AddShared<AddPad>},
    {op::RandomNormalOperation::kName, AddRandomNormal},
    {op::ReduceOperation::kName, AddShared<AddReduce>, HasAxes},
    {op::ReshapeOperation::kName, AddShared<AddReshape>, nullptr, AreAnyTypes},
    {op::ResizeOperation::kName, AddResize},
    {op::ResizeGradientOperation::kName, AddResizeGradient},
    {op::ReverseOperation::kName, AddShared<AddReverse>},
    {op::ScanOperation::kName, AddShared<AddScan>, nullptr, AreAnyTypes},
    {op::SliceOperation::kName, AddShared<AddSlice>},
    {op::SoftmaxOperation::kName, AddSoftmax},
    {op::SoftmaxGradientOperation::kName, AddSoftmaxGradient},
    {op::SumOverReplicasOperation::kName, AddShared<AddSumOverReplicas>,
     nullptr, AreSums},
    {op::SumRowsOperation::kName, AddSumRows, nullptr, EndWithFloats},
    {op::TransposeOperation::kName, AddShared<AddTranspose>},
};

}  // namespace

absl::Span<const OperationEntry<ProgramBuilder>> Operations() {
  return kOperations;
}

Tensor* ProgramBuilder::AddCall(const PlacedCall& call) {
  return FindOperation(Operations(), call.operation)->add(call, *this);
}

}  // namespace paceline::cuda
