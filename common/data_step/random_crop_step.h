// Takes a part of images, anywhere.
#ifndef PACELINE_COMMON_DATA_STEP_RANDOM_CROP_STEP_H_
#define PACELINE_COMMON_DATA_STEP_RANDOM_CROP_STEP_H_

#include <cstdint>
#include <optional>

#include "common/data_step/data_step.h"
#include "common/data_step/image_crop.h"

namespace paceline {

template <typename T>
class FieldTable;

// As in Keras, only images that are both higher and wider than the part are cut
// at random. Of others it is what there is of the part from the corner of the
// middle on, enlarged if that is smaller.
class RandomCropStep : public DataStep {
 public:
  static constexpr char kClassName[] = "RandomCrop";
  static const FieldTable<RandomCropStep>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  bool is_random() const override { return true; }
  // Takes the middle then.
  bool LeaveOutRandom() override {
    is_middle_ = true;
    return true;
  }
  absl::StatusOr<Shape> Build(const Shape& input) override;
  absl::Status Apply(const float* in, float* out, StepRandom& random) override;

  int64_t height = 0;
  int64_t width = 0;
  std::optional<int64_t> seed;

 private:
  bool is_middle_ = false;
  ImageLayout image_;
  // Of images that are not cut at random.
  CropResizer middle_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_RANDOM_CROP_STEP_H_
