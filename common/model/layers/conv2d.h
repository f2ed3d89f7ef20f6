// Convolution of images.
#ifndef PACELINE_COMMON_MODEL_LAYERS_CONV2D_H_
#define PACELINE_COMMON_MODEL_LAYERS_CONV2D_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/initializer.h"
#include "common/model/layers/convolution_layer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

// activation(conv(input, kernel) + bias): (h, w, channels) to (h', w',
// filters), with kernel (kh, kw, channels / groups, filters) and bias
// (filters). As in Keras, this is a cross-correlation. Channels and filters are
// divided into `groups` of consecutive ones; a filter reads only the channels
// of its group.
class Conv2D : public ConvolutionLayer {
 public:
  static constexpr char kClassName[] = "Conv2D";
  static const FieldTable<Conv2D>& Fields();

  Conv2D() = default;
  Conv2D(int64_t filter_count, std::array<int64_t, 2> size)
      : filters(filter_count) {
    kernel_size = size;
  }

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  int64_t filters = 0;
  int64_t groups = 1;
  std::shared_ptr<const Initializer> kernel_initializer =
      DefaultKernelInitializer();
  Regularizer kernel_regularizer;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_CONV2D_H_
