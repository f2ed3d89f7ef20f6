// Constants, and elements in other places.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/onnx/operation_form.h"
#include "common/operations/broadcast.h"
#include "common/operations/concatenate.h"
#include "common/operations/constant.h"
#include "common/operations/gather_rows.h"
#include "common/operations/iota.h"
#include "common/operations/pad.h"
#include "common/operations/reshape.h"
#include "common/operations/resize.h"
#include "common/operations/reverse.h"
#include "common/operations/slice.h"
#include "common/operations/transpose.h"

namespace paceline {
namespace {

absl::Status FollowsBatch(absl::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat(what, " follow the size of the batch"));
}

const Shape& OutputShape(const TranslatedCall& call) {
  return call.function.first.type(call.call.outputs[0]).shape;
}

TranslatedOutputs TranslateConstant(const TranslatedCall& call) {
  const std::vector<double>& values =
      call.operation<op::ConstantOperation>().values();
  if (values !=
      static_cast<const op::ConstantOperation&>(*call.second_call.operation)
          .values()) {
    return FollowsBatch("values of a constant");
  }
  RETURN_IF_ERROR(call.graph.ReserveConstants(1, OutputShape(call)));
  return {{call.graph.Numbers(call.output_type(), OutputShape(call), values)}};
}

TranslatedOutputs TranslateIota(const TranslatedCall& call) {
  const SymbolicDimension size = call.output_shape()[0];
  if (size.is_batch) return FollowsBatch("numbers of an Iota");
  RETURN_IF_ERROR(call.graph.ReserveConstants(1, {size.size}));
  std::vector<double> values(size.size);
  std::iota(values.begin(), values.end(), 0);
  return {{call.graph.Numbers(call.output_type(), {size.size}, values)}};
}

TranslatedOutputs TranslateReshape(const TranslatedCall& call) {
  std::vector<int64_t> sizes;
  int batch_axes = 0;
  for (const SymbolicDimension& dimension : call.output_shape()) {
    // The runtime finds the size of one axis.
    sizes.push_back(dimension.is_batch ? -1 : dimension.size);
    batch_axes += dimension.is_batch ? 1 : 0;
  }
  if (batch_axes > 1) return FollowsBatch("two axes of a Reshape");
  return {{call.graph.Reshape(call.inputs[0], sizes)}};
}

TranslatedOutputs TranslateTranspose(const TranslatedCall& call) {
  const std::vector<int>& permutation =
      call.operation<op::TransposeOperation>().permutation();
  return {{call.graph.Transpose(
      call.inputs[0],
      std::vector<int64_t>(permutation.begin(), permutation.end()))}};
}

TranslatedOutputs TranslateBroadcast(const TranslatedCall& call) {
  const SymbolicShape from = call.input_shape(0);
  SymbolicShape to = call.output_shape();
  // 1 leaves an axis as it is, so that most broadcasts need no size of the
  // batch.
  const size_t new_axes = to.size() - from.size();
  for (size_t axis = 0; axis < from.size(); ++axis) {
    SymbolicDimension& size = to[new_axes + axis];
    if (size == from[axis]) size = {1, false};
  }
  return {{call.graph.Add("Expand", {call.inputs[0], call.graph.SizesOf(to)})}};
}

TranslatedOutputs TranslateConcatenate(const TranslatedCall& call) {
  const int axis = call.operation<op::ConcatenateOperation>().axis();
  return {
      {call.graph.Add("Concat", call.inputs, {IntAttribute("axis", axis)})}};
}

TranslatedOutputs TranslateReverse(const TranslatedCall& call) {
  const int64_t axis = call.operation<op::ReverseOperation>().axis();
  OnnxGraph& graph = call.graph;
  const std::string first = graph.Integers({-1});
  const std::string before_begin =
      graph.Integers({std::numeric_limits<int64_t>::min()});
  return {{graph.Add("Slice", {call.inputs[0], first, before_begin,
                               graph.Integers({axis}), first})}};
}

TranslatedOutputs TranslatePad(const TranslatedCall& call) {
  const auto& operation = call.operation<op::PadOperation>();
  std::vector<int64_t> pads;
  for (const op::AxisPadding& axis : operation.padding()) {
    pads.push_back(axis.before);
  }
  for (const op::AxisPadding& axis : operation.padding()) {
    pads.push_back(axis.after);
  }
  const std::string value =
      call.graph.Number(call.output_type(), operation.value());
  return {{call.graph.Add("Pad",
                          {call.inputs[0], call.graph.Integers(pads), value})}};
}

TranslatedOutputs TranslateSlice(const TranslatedCall& call) {
  const Shape& starts = call.operation<op::SliceOperation>().starts();
  const SymbolicShape from = call.input_shape(0);
  const SymbolicShape to = call.output_shape();
  std::vector<int64_t> begins;
  std::vector<int64_t> ends;
  std::vector<int64_t> axes;
  for (size_t axis = 0; axis < to.size(); ++axis) {
    if (to[axis] == from[axis]) continue;
    if (from[axis].is_batch) return FollowsBatch("bounds of a Slice");
    begins.push_back(starts[axis]);
    ends.push_back(starts[axis] + to[axis].size);
    axes.push_back(static_cast<int64_t>(axis));
  }
  if (axes.empty()) return {{call.inputs[0]}};
  OnnxGraph& graph = call.graph;
  const std::string from_begin = graph.Integers(begins);
  const std::string to_end = graph.Integers(ends);
  return {{graph.Add(
      "Slice", {call.inputs[0], from_begin, to_end, graph.Integers(axes)})}};
}

TranslatedOutputs TranslateGatherRows(const TranslatedCall& call) {
  return {{call.graph.Add("Gather", call.inputs, {IntAttribute("axis", 0)})}};
}

// Resizes along an axis by Gather, with our own table of elements: how a Resize
// of ONNX rounds to the nearest pixel differs between runtimes.
std::string ResizeAxis(const TranslatedCall& call, const std::string& image,
                       int64_t axis) {
  const std::vector<op::ResizedElement> elements = op::ResizedElements(
      call.operation<op::ResizeOperation>().mode(),
      call.input_shape(0)[axis].size, call.output_shape()[axis].size);
  std::vector<int64_t> lower;
  std::vector<int64_t> upper;
  std::vector<double> upper_shares;
  std::vector<double> lower_shares;
  for (const op::ResizedElement& element : elements) {
    lower.push_back(element.lower);
    upper.push_back(element.upper);
    upper_shares.push_back(element.upper_share);
    lower_shares.push_back(1 - element.upper_share);
  }
  OnnxGraph& graph = call.graph;
  const auto gather = [&](const std::vector<int64_t>& indices) {
    return graph.Add("Gather", {image, graph.Integers(indices)},
                     {IntAttribute("axis", axis)});
  };
  std::string from_lower = gather(lower);
  if (lower == upper) return from_lower;
  // Broadcast along the axes that follow.
  Shape shape(4 - axis, 1);
  shape[0] = static_cast<int64_t>(elements.size());
  const auto share = [&](const std::string& part,
                         const std::vector<double>& shares) {
    return graph.Add("Mul",
                     {part, graph.Numbers(call.output_type(), shape, shares)});
  };
  const std::string of_lower = share(from_lower, lower_shares);
  const std::string of_upper = share(gather(upper), upper_shares);
  return graph.Add("Add", {of_lower, of_upper});
}

TranslatedOutputs TranslateResize(const TranslatedCall& call) {
  for (const int64_t axis : {1, 2}) {
    // The tables of ResizeAxis.
    RETURN_IF_ERROR(
        call.graph.ReserveConstants(4, {call.output_shape()[axis].size}));
  }
  return {{ResizeAxis(call, ResizeAxis(call, call.inputs[0], 1), 2)}};
}

constexpr OperationForm kLayoutForms[] = {
    {op::ConstantOperation::kName, TranslateConstant},
    {op::IotaOperation::kName, TranslateIota},
    {op::ReshapeOperation::kName, TranslateReshape},
    {op::TransposeOperation::kName, TranslateTranspose},
    {op::BroadcastOperation::kName, TranslateBroadcast},
    {op::ConcatenateOperation::kName, TranslateConcatenate},
    {op::ReverseOperation::kName, TranslateReverse},
    {op::PadOperation::kName, TranslatePad},
    {op::SliceOperation::kName, TranslateSlice},
    {op::GatherRowsOperation::kName, TranslateGatherRows},
    {op::ResizeOperation::kName, TranslateResize}};

}  // namespace

absl::Span<const OperationForm> LayoutForms() { return kLayoutForms; }

}  // namespace paceline
