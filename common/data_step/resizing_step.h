// Resizes images.
#ifndef PACELINE_COMMON_DATA_STEP_RESIZING_STEP_H_
#define PACELINE_COMMON_DATA_STEP_RESIZING_STEP_H_

#include <cstdint>
#include <vector>

#include "common/data_step/data_step.h"
#include "common/data_step/image_crop.h"
#include "common/image/interpolation.h"

namespace paceline {

template <typename T>
class FieldTable;

// By default images are stretched to the size.
class ResizingStep : public DataStep {
 public:
  static constexpr char kClassName[] = "Resizing";
  static const FieldTable<ResizingStep>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> Build(const Shape& input) override;
  absl::Status Apply(const float* in, float* out, StepRandom& random) override;

  int64_t height = 0;
  int64_t width = 0;
  Interpolation interpolation = Interpolation::kBilinear;
  // At most one of them.
  bool crop_to_aspect_ratio = false;
  bool pad_to_aspect_ratio = false;
  double fill_value = 0;

 private:
  // Adds to both sides what the image lacks of the aspect ratio.
  void Pad(const float* in);

  ImageLayout image_;
  // With the padding.
  ImageLayout padded_;
  std::vector<float> memory_;
  CropResizer resizer_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_RESIZING_STEP_H_
