#include "worker/device/reference/evaluate.h"

#include <optional>
#include <utility>

#include "absl/strings/string_view.h"
#include "common/operations/batch_moments.h"
#include "common/operations/binary_map.h"
#include "common/operations/broadcast.h"
#include "common/operations/cast.h"
#include "common/operations/channel_normalization.h"
#include "common/operations/compare.h"
#include "common/operations/concatenate.h"
#include "common/operations/constant.h"
#include "common/operations/convolution.h"
#include "common/operations/elementwise.h"
#include "common/operations/gather_rows.h"
#include "common/operations/group_normalization.h"
#include "common/operations/iota.h"
#include "common/operations/map.h"
#include "common/operations/matrix_product.h"
#include "common/operations/pad.h"
#include "common/operations/pooled_convolution.h"
#include "common/operations/pooling.h"
#include "common/operations/random.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/resize.h"
#include "common/operations/reverse.h"
#include "common/operations/scan.h"
#include "common/operations/select.h"
#include "common/operations/slice.h"
#include "common/operations/softmax.h"
#include "common/operations/stop_gradient.h"
#include "common/operations/sum_over_replicas.h"
#include "common/operations/transpose.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {
namespace {

struct Entry {
  const char* name;
  EvaluateOperation* evaluate;
};

constexpr Entry kOperations[] = {
    {op::ArgMaxOperation::kName, EvaluateArgMax},
    {op::AveragePoolingOperation::kName, EvaluateAveragePooling},
    {op::AveragePoolingGradientOperation::kName,
     EvaluateAveragePoolingGradient},
    {op::BatchMomentsOperation::kName, EvaluateBatchMoments},
    {op::BinaryMapOperation::kName, EvaluateBinaryMap},
    {op::BroadcastOperation::kName, EvaluateBroadcast},
    {op::CastOperation::kName, EvaluateCast},
    {op::ChannelGradientSumsOperation::kName, EvaluateChannelGradientSums},
    {op::ChannelNormalizationOperation::kName, EvaluateChannelNormalization},
    {op::ChannelNormalizationGradientOperation::kName,
     EvaluateChannelNormalizationGradient},
    {op::CompareOperation::kName, EvaluateCompare},
    {op::ConcatenateOperation::kName, EvaluateConcatenate},
    {op::ConstantOperation::kName, EvaluateConstant},
    {op::ConvolutionOperation::kName, EvaluateConvolution},
    {op::ConvolutionInputGradientOperation::kName,
     EvaluateConvolutionInputGradient},
    {op::ConvolutionKernelGradientOperation::kName,
     EvaluateConvolutionKernelGradient},
    {op::DropoutMaskOperation::kName, EvaluateDropoutMask},
    {op::ElementwiseOperation::kName, EvaluateElementwise},
    {op::GatherRowsOperation::kName, EvaluateGatherRows},
    {op::GroupNormalizationOperation::kName, EvaluateGroupNormalization},
    {op::GroupNormalizationGradientOperation::kName,
     EvaluateGroupNormalizationGradient},
    {op::GroupNormalizationGammaGradientOperation::kName,
     EvaluateGroupNormalizationGammaGradient},
    {op::IotaOperation::kName, EvaluateIota},
    {op::LogSoftmaxOperation::kName, EvaluateLogSoftmax},
    {op::LogSoftmaxGradientOperation::kName, EvaluateLogSoftmaxGradient},
    {op::MapOperation::kName, EvaluateMap},
    {op::MatrixProductOperation::kName, EvaluateMatrixProduct},
    {op::MaxPoolingOperation::kName, EvaluateMaxPooling},
    {op::MaxPoolingGradientOperation::kName, EvaluateMaxPoolingGradient},
    {op::PadOperation::kName, EvaluatePad},
    {op::PooledConvolutionOperation::kName, EvaluatePooledConvolution},
    {op::PooledConvolutionKernelGradientOperation::kName,
     EvaluatePooledConvolutionKernelGradient},
    {op::RandomNormalOperation::kName, EvaluateRandomNormal},
    {op::ReduceOperation::kName, EvaluateReduce},
    {op::ReshapeOperation::kName, EvaluateCopy},
    {op::ResizeOperation::kName, EvaluateResize},
    {op::ResizeGradientOperation::kName, EvaluateResizeGradient},
    {op::ReverseOperation::kName, EvaluateReverse},
    {op::ScanOperation::kName, EvaluateScan},
    {op::SelectOperation::kName, EvaluateSelect},
    {op::SliceOperation::kName, EvaluateSlice},
    {op::SoftmaxOperation::kName, EvaluateSoftmax},
    {op::SoftmaxGradientOperation::kName, EvaluateSoftmaxGradient},
    {op::StopGradientOperation::kName, EvaluateCopy},
    {op::SumOverReplicasOperation::kName, EvaluateSumOverReplicas},
    {op::SumRowsOperation::kName, EvaluateSumRows},
    {op::TransposeOperation::kName, EvaluateTranspose},
};

EvaluateOperation* Find(absl::string_view name) {
  for (const Entry& entry : kOperations) {
    if (entry.name == name) return entry.evaluate;
  }
  LOG(FATAL) << "the reference device has no operation " << name;
}

}  // namespace

FunctionRun::FunctionRun(const op::Function& function)
    : function_(function), values_(function.tensor_count()) {
  for (const op::Call& call : function.calls()) {
    evaluate_.push_back(Find(call.operation->name()));
  }
  for (const int parameter : function.parameters()) {
    values_[parameter].emplace(function.type(parameter));
  }
}

void FunctionRun::Run(size_t begin, size_t end, const StepContext& step) {
  for (size_t i = begin; i < end; ++i) {
    const op::Call& call = function_.calls()[i];
    std::vector<const Array*> inputs;
    for (const int input : call.inputs) inputs.push_back(&value(input));
    std::vector<Array> outputs;
    for (const int output : call.outputs) {
      outputs.emplace_back(function_.type(output));
    }
    evaluate_[i](*call.operation, {inputs, absl::MakeSpan(outputs), step});
    for (size_t k = 0; k < outputs.size(); ++k) {
      values_[call.outputs[k]] = std::move(outputs[k]);
    }
  }
}

std::vector<Array> Evaluate(const op::Function& function,
                            absl::Span<const Array* const> arguments,
                            const StepContext& step) {
  CHECK_EQ(arguments.size(), function.parameters().size());
  FunctionRun run(function);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const int parameter = function.parameters()[i];
    CHECK(arguments[i]->type() == function.type(parameter))
        << op::ToString(arguments[i]->type()) << " for "
        << op::ToString(function.type(parameter));
    run.Argument(parameter) = *arguments[i];
  }
  run.Run(0, function.calls().size(), step);
  std::vector<Array> results;
  for (const int result : function.results()) {
    results.push_back(run.value(result));
  }
  return results;
}

}  // namespace paceline::reference
