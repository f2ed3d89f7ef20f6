// Convolution of images.
#ifndef PACELINE_COMMON_MODEL_LAYERS_CONV2D_H_
#define PACELINE_COMMON_MODEL_LAYERS_CONV2D_H_

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/model/layers/grouped_convolution.h"

namespace paceline {

// See GroupedConvolution.
class Conv2D : public GroupedConvolution<2> {
 public:
  static constexpr char kClassName[] = "Conv2D";
  static const FieldTable<Conv2D>& Fields();

  Conv2D() = default;
  Conv2D(int64_t filter_count, std::array<int64_t, 2> size) {
    filters = filter_count;
    kernel_size = size;
  }

  absl::string_view class_name() const override { return kClassName; }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_CONV2D_H_
