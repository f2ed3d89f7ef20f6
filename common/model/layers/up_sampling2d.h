// Enlarges images by repeating or interpolating pixels.
#ifndef PACELINE_COMMON_MODEL_LAYERS_UP_SAMPLING2D_H_
#define PACELINE_COMMON_MODEL_LAYERS_UP_SAMPLING2D_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;
template <typename E>
struct EnumName;

// kNearest repeats pixels. kBilinear interpolates between pixel centers, and
// repeats the border pixels beyond the outermost centers.
enum class UpSamplingInterpolation { kNearest, kBilinear };
absl::Span<const EnumName<UpSamplingInterpolation>> EnumNames(
    UpSamplingInterpolation);

// (h, w, channels) to (h · size[0], w · size[1], channels).
class UpSampling2D : public Layer {
 public:
  static constexpr char kClassName[] = "UpSampling2D";
  static const FieldTable<UpSampling2D>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  std::array<int64_t, 2> size = {2, 2};
  UpSamplingInterpolation interpolation = UpSamplingInterpolation::kNearest;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_UP_SAMPLING2D_H_
