// Convolutions and poolings. Ours have images with the channels last, those of
// ONNX with the channels first, so Transposes stand around them; runtimes move
// and cancel these.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/onnx/operation_form.h"
#include "common/operations/convolution.h"
#include "common/operations/pooling.h"
#include "glog/logging.h"

namespace paceline {
namespace {

constexpr std::array<int64_t, 4> kToChannelsFirst = {0, 3, 1, 2};
constexpr std::array<int64_t, 4> kToChannelsLast = {0, 2, 3, 1};
// (height, width, channels, filters) to (filters, channels, height, width).
constexpr std::array<int64_t, 4> kToFiltersFirst = {3, 2, 0, 1};

// The same number of each axis of a window.
std::vector<int64_t> OfAxes(const op::Window2D& window,
                            int64_t op::WindowAxis::*member) {
  return {window[0].*member, window[1].*member};
}

// If the last window ends before the image does, nothing is padded.
std::vector<int64_t> PadsOf(const op::Window2D& window) {
  return {window[0].pad_before, window[1].pad_before,
          std::max<int64_t>(window[0].pad_after, 0),
          std::max<int64_t>(window[1].pad_after, 0)};
}

std::vector<onnx::AttributeProto> WindowAttributes(
    const op::Window2D& window, absl::Span<const int64_t> pads) {
  return {IntsAttribute("kernel_shape", OfAxes(window, &op::WindowAxis::size)),
          IntsAttribute("strides", OfAxes(window, &op::WindowAxis::stride)),
          IntsAttribute("pads", pads)};
}

onnx::AttributeProto Dilations(const op::Window2D& window) {
  return IntsAttribute("dilations", OfAxes(window, &op::WindowAxis::dilation));
}

// Adds a node that reads an image, and what follows it in `more`.
std::string AddOfImage(const TranslatedCall& call, absl::string_view type,
                       absl::Span<const std::string> more,
                       std::vector<onnx::AttributeProto> attributes) {
  std::vector<std::string> inputs = {
      call.graph.Transpose(call.inputs[0], kToChannelsFirst)};
  inputs.insert(inputs.end(), more.begin(), more.end());
  const std::string output =
      call.graph.Add(type, inputs, std::move(attributes));
  return call.graph.Transpose(output, kToChannelsLast);
}

TranslatedOutputs TranslateConvolution(const TranslatedCall& call) {
  const auto& operation = call.operation<op::ConvolutionOperation>();
  CHECK(!operation.options().has_bias && !operation.options().rectifies);
  const op::Window2D& window = operation.parameters().window;
  std::vector<onnx::AttributeProto> attributes =
      WindowAttributes(window, PadsOf(window));
  attributes.push_back(Dilations(window));
  attributes.push_back(IntAttribute("group", operation.parameters().groups));
  const std::string kernel =
      call.graph.Transpose(call.inputs[1], kToFiltersFirst);
  return {{AddOfImage(call, "Conv", {kernel}, std::move(attributes))}};
}

// The forward of Conv2DTranspose.
TranslatedOutputs TranslateConvolutionInputGradient(
    const TranslatedCall& call) {
  const op::ConvolutionParameters& parameters =
      call.operation<op::ConvolutionInputGradientOperation>().parameters();
  const SymbolicShape from = call.input_shape(0);
  const SymbolicShape to = call.output_shape();
  std::vector<int64_t> pads(4);
  std::vector<int64_t> output_padding(2);
  for (size_t axis = 0; axis < 2; ++axis) {
    const op::WindowAxis& window = parameters.window[axis];
    const int64_t whole = (from[axis + 1].size - 1) * window.stride +
                          (window.size - 1) * window.dilation + 1;
    const int64_t cut = whole - window.pad_before - to[axis + 1].size;
    pads[axis] = window.pad_before;
    pads[axis + 2] = std::max<int64_t>(cut, 0);
    output_padding[axis] = std::max<int64_t>(-cut, 0);
  }
  std::vector<onnx::AttributeProto> attributes =
      WindowAttributes(parameters.window, pads);
  attributes.push_back(Dilations(parameters.window));
  attributes.push_back(IntAttribute("group", parameters.groups));
  attributes.push_back(IntsAttribute("output_padding", output_padding));
  const std::string kernel =
      call.graph.Transpose(call.inputs[1], kToFiltersFirst);
  return {{AddOfImage(call, "ConvTranspose", {kernel}, std::move(attributes))}};
}

TranslatedOutputs TranslateMaxPooling(const TranslatedCall& call) {
  const auto& operation = call.operation<op::MaxPoolingOperation>();
  CHECK(!operation.rectifies());
  std::vector<onnx::AttributeProto> attributes =
      WindowAttributes(operation.window(), PadsOf(operation.window()));
  attributes.push_back(Dilations(operation.window()));
  return {{AddOfImage(call, "MaxPool", {}, std::move(attributes))}};
}

TranslatedOutputs TranslateAveragePooling(const TranslatedCall& call) {
  const op::Window2D& window =
      call.operation<op::AveragePoolingOperation>().window();
  if (window[0].dilation != 1 || window[1].dilation != 1) {
    return absl::UnimplementedError(absl::StrCat(
        "AveragePool of ONNX's opset has no dilation, here ",
        window[0].dilation, " by ", window[1].dilation, "; expected 1"));
  }
  return {{AddOfImage(call, "AveragePool", {},
                      WindowAttributes(window, PadsOf(window)))}};
}

constexpr OperationForm kImageForms[] = {
    {op::ConvolutionOperation::kName, TranslateConvolution},
    {op::ConvolutionInputGradientOperation::kName,
     TranslateConvolutionInputGradient},
    {op::MaxPoolingOperation::kName, TranslateMaxPooling},
    {op::AveragePoolingOperation::kName, TranslateAveragePooling}};

}  // namespace

absl::Span<const OperationForm> ImageForms() { return kImageForms; }

}  // namespace paceline
