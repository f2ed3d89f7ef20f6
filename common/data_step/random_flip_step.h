// Flips half of the images.
#ifndef PACELINE_COMMON_DATA_STEP_RANDOM_FLIP_STEP_H_
#define PACELINE_COMMON_DATA_STEP_RANDOM_FLIP_STEP_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "common/config/codec.h"
#include "common/data_step/data_step.h"
#include "common/data_step/image_layout.h"

namespace paceline {

template <typename T>
class FieldTable;

enum class FlipMode { kHorizontal, kVertical, kBoth };

absl::Span<const EnumName<FlipMode>> EnumNames(FlipMode);

// As in Keras, one draw decides about both directions.
class RandomFlipStep : public DataStep {
 public:
  static constexpr char kClassName[] = "RandomFlip";
  static const FieldTable<RandomFlipStep>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  bool is_random() const override { return true; }
  absl::StatusOr<Shape> Build(const Shape& input) override;
  absl::Status Apply(const float* in, float* out, StepRandom& random) override;

  // What Apply does to an image that is drawn.
  void Flip(const float* in, float* out) const;

  FlipMode mode = FlipMode::kBoth;
  std::optional<int64_t> seed;

 private:
  ImageLayout image_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_RANDOM_FLIP_STEP_H_
