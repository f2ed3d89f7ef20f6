#include "common/data_step/random_flip_step.h"

#include <algorithm>

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/data_step/step_fields.h"

namespace paceline {
namespace {

// Copies a row from its end to its begin.
template <int64_t kChannels>
void CopyMirrored(const float* row, int64_t width, float* out) {
  for (int64_t x = 0; x < width; ++x) {
    std::copy_n(row + (width - 1 - x) * kChannels, kChannels,
                out + x * kChannels);
  }
}

void CopyMirrored(const float* row, const ImageLayout& image, float* out) {
  switch (image.channels) {
    case 1:
      return CopyMirrored<1>(row, image.width, out);
    case 3:
      return CopyMirrored<3>(row, image.width, out);
    default:
      break;
  }
  for (int64_t x = image.width - 1; x >= 0; --x) {
    out = std::copy_n(row + x * image.channels, image.channels, out);
  }
}

}  // namespace

absl::Span<const EnumName<FlipMode>> EnumNames(FlipMode) {
  static constexpr EnumName<FlipMode> kNames[] = {
      {FlipMode::kHorizontal, "horizontal"},
      {FlipMode::kVertical, "vertical"},
      {FlipMode::kBoth, "horizontal_and_vertical"}};
  return kNames;
}

const FieldTable<RandomFlipStep>& RandomFlipStep::Fields() {
  static const auto& table = *new FieldTable<RandomFlipStep>(
      kClassName, "Flips half of the images.",
      ImageStepFields<RandomFlipStep>(
          {Optional("mode", &RandomFlipStep::mode,
                    "Left and right, top and bottom, or both at once."),
           SeedField<RandomFlipStep>()}));
  return table;
}

absl::StatusOr<Shape> RandomFlipStep::Build(const Shape& input) {
  ASSIGN_OR_RETURN(image_, ImageLayoutOf(input));
  return input;
}

absl::Status RandomFlipStep::Apply(const float* in, float* out,
                                   StepRandom& random) {
  random.Reseed(seed);
  if (random.Uniform(0, 1) <= 0.5F) {
    Flip(in, out);
  } else {
    std::copy_n(in, image_.size(), out);
  }
  return absl::OkStatus();
}

void RandomFlipStep::Flip(const float* in, float* out) const {
  for (int64_t y = 0; y < image_.height; ++y) {
    const int64_t from =
        mode == FlipMode::kHorizontal ? y : image_.height - 1 - y;
    const float* row = in + from * image_.row_size();
    if (mode == FlipMode::kVertical) {
      std::copy_n(row, image_.row_size(), out);
    } else {
      CopyMirrored(row, image_, out);
    }
    out += image_.row_size();
  }
}

}  // namespace paceline
