#include "common/operations/resize.h"

#include <algorithm>
#include <cmath>

#include "glog/logging.h"

namespace paceline::op {
namespace {

TensorType Resized(const TensorType& type, std::array<int64_t, 2> size) {
  CHECK(IsReal(type.type) && type.shape.size() == 4) << ToString(type);
  return {type.type, {type.shape[0], size[0], size[1], type.shape[3]}};
}

std::array<int64_t, 2> SizeOf(const Tensor& image) {
  return {image.dimension(1), image.dimension(2)};
}

}  // namespace

std::vector<ResizedElement> ResizedElements(ResizeMode mode, int64_t input,
                                            int64_t output) {
  std::vector<ResizedElement> elements;
  for (int64_t o = 0; o < output; ++o) {
    if (mode == ResizeMode::kNearest) {
      // The input pixel that contains the center of output pixel o. Integers
      // make this exact.
      const int64_t nearest = (2 * o + 1) * input / (2 * output);
      elements.push_back({nearest, nearest, 0});
      continue;
    }
    const double center = (static_cast<double>(o) + 0.5) *
                              static_cast<double>(input) /
                              static_cast<double>(output) -
                          0.5;
    const double inside =
        std::clamp(center, 0.0, static_cast<double>(input - 1));
    const auto lower = static_cast<int64_t>(std::floor(inside));
    elements.push_back({lower, std::min(lower + 1, input - 1),
                        inside - static_cast<double>(lower)});
  }
  return elements;
}

std::vector<TensorType> ResizeOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  return {Resized(inputs[0], size_)};
}

Gradients ResizeOperation::AddGradient(const CallGradient& call) const {
  return {AddCall(ResizeGradientOperation(mode_, SizeOf(call.inputs[0])),
                  {*call.output_gradients[0]})};
}

std::vector<TensorType> ResizeGradientOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  return {Resized(inputs[0], size_)};
}

Gradients ResizeGradientOperation::AddGradient(const CallGradient& call) const {
  return {Resize(*call.output_gradients[0], mode_, SizeOf(call.inputs[0]))};
}

Tensor Resize(const Tensor& x, ResizeMode mode, std::array<int64_t, 2> size) {
  return AddCall(ResizeOperation(mode, size), {x});
}

}  // namespace paceline::op
