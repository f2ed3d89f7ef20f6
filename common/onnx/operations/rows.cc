// Reductions, softmax and products of matrices.
#include <cstdint>
#include <numeric>
#include <utility>

#include "common/onnx/operation_form.h"
#include "common/operations/matrix_product.h"
#include "common/operations/reduce.h"
#include "common/operations/softmax.h"
#include "glog/logging.h"

namespace paceline {
namespace {

TranslatedOutputs TranslateReduce(const TranslatedCall& call) {
  const auto& operation = call.operation<op::ReduceOperation>();
  const std::vector<int64_t> axes(operation.axes().begin(),
                                  operation.axes().end());
  // Without axes, ONNX would reduce all.
  if (axes.empty()) return {{call.inputs[0]}};
  OnnxGraph& graph = call.graph;
  // In opset 13, only the sum reads its axes from a tensor.
  if (operation.reduction() == op::Reduction::kSum) {
    return {{graph.Add("ReduceSum", {call.inputs[0], graph.Integers(axes)},
                       {IntAttribute("keepdims", 1)})}};
  }
  return {
      {graph.Add("ReduceMax", call.inputs,
                 {IntsAttribute("axes", axes), IntAttribute("keepdims", 1)})}};
}

onnx::AttributeProto AxisOf(const TranslatedCall& call) {
  return IntAttribute("axis", call.operation<op::RowOperation>().axis());
}

TranslatedOutputs TranslateSoftmax(const TranslatedCall& call) {
  return {{call.graph.Add("Softmax", call.inputs, {AxisOf(call)})}};
}

TranslatedOutputs TranslateLogSoftmax(const TranslatedCall& call) {
  return {{call.graph.Add("LogSoftmax", call.inputs, {AxisOf(call)})}};
}

// An operand of a product, with its last two axes swapped if it is transposed.
std::string Operand(const TranslatedCall& call, size_t input,
                    bool is_transposed) {
  if (!is_transposed) return call.inputs[input];
  std::vector<int64_t> permutation(call.input_shape(input).size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  return call.graph.Transpose(call.inputs[input], permutation);
}

TranslatedOutputs TranslateMatrixProduct(const TranslatedCall& call) {
  const op::MatrixProductOptions& options =
      call.operation<op::MatrixProductOperation>().options();
  CHECK(!options.has_bias && !options.has_row_sum);
  const std::string left = Operand(call, 0, options.left_is_transposed);
  const std::string right = Operand(call, 1, options.right_is_transposed);
  return {{call.graph.Add("MatMul", {left, right})}};
}

constexpr OperationForm kRowForms[] = {
    {op::ReduceOperation::kName, TranslateReduce},
    {op::SoftmaxOperation::kName, TranslateSoftmax},
    {op::LogSoftmaxOperation::kName, TranslateLogSoftmax},
    {op::MatrixProductOperation::kName, TranslateMatrixProduct}};

}  // namespace

absl::Span<const OperationForm> RowForms() { return kRowForms; }

}  // namespace paceline
