// Takes the middle of images.
#ifndef PACELINE_COMMON_DATA_STEP_CENTER_CROP_STEP_H_
#define PACELINE_COMMON_DATA_STEP_CENTER_CROP_STEP_H_

#include <cstdint>

#include "common/data_step/data_step.h"
#include "common/data_step/image_crop.h"

namespace paceline {

template <typename T>
class FieldTable;

// As in Keras, a smaller image gives its largest part of the same aspect ratio,
// enlarged.
class CenterCropStep : public DataStep {
 public:
  static constexpr char kClassName[] = "CenterCrop";
  static const FieldTable<CenterCropStep>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> Build(const Shape& input) override;
  absl::Status Apply(const float* in, float* out, StepRandom& random) override;

  int64_t height = 0;
  int64_t width = 0;

 private:
  CropResizer resizer_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_CENTER_CROP_STEP_H_
