#include "common/data_step/resizing_step.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/data_step/step_fields.h"

namespace paceline {
namespace {

// 256 MiB, for each reader.
constexpr int64_t kMaxPadded = int64_t{1} << 26;

// The side that gives an image the aspect ratio a : b to its side `other`, as
// Keras computes it.
int64_t SideOf(int64_t other, int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<float>(other * a) /
                              static_cast<float>(b));
}

// What is added to one side of `size` to get to `wanted`, if it is more.
int64_t Padding(int64_t size, int64_t wanted) {
  return (std::max(size, wanted) - size) / 2;
}

}  // namespace

const FieldTable<ResizingStep>& ResizingStep::Fields() {
  using Self = ResizingStep;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Resizes images.",
      ImageStepFields<Self>(Joined<Self>(
          {SizeFields<Self>(),
           {Optional("interpolation", &Self::interpolation,
                     "How pixels between others are computed."),
            Optional("crop_to_aspect_ratio", &Self::crop_to_aspect_ratio,
                     "Whether what does not fit the aspect ratio is cut off."),
            Optional("pad_to_aspect_ratio", &Self::pad_to_aspect_ratio,
                     "Whether what lacks of the aspect ratio is added."),
            Only("fill_mode", "constant", "What is added."),
            Optional("fill_value", &Self::fill_value, "Value that is added."),
            Only("antialias", false, "Whether a filter comes before.")}})),
      [] { return Self(); },
      [](const Self& step, const Path& path) {
        if (step.crop_to_aspect_ratio && step.pad_to_aspect_ratio) {
          return ConfigError(path.Key("pad_to_aspect_ratio"),
                             "excludes crop_to_aspect_ratio");
        }
        return absl::OkStatus();
      });
  return table;
}

absl::StatusOr<Shape> ResizingStep::Build(const Shape& input) {
  ASSIGN_OR_RETURN(image_, ImageLayoutOf(input));
  const ImageSize target = {height, width};
  padded_ = image_;
  if (pad_to_aspect_ratio) {
    padded_.height +=
        2 * Padding(image_.height, SideOf(image_.width, height, width));
    padded_.width +=
        2 * Padding(image_.width, SideOf(image_.height, width, height));
    if (padded_.size() > kMaxPadded) {
      return absl::InvalidArgumentError(absl::StrCat(
          "images of shape ", ShapeToString(input), " with padding have ",
          padded_.size(), " numbers, above the limit of ", kMaxPadded));
    }
    memory_.assign(padded_.size(), static_cast<float>(fill_value));
  }
  const ImageCrop crop =
      crop_to_aspect_ratio ? CropToAspect<float>(image_, target)
                           : ImageCrop{.size = {padded_.height, padded_.width}};
  resizer_ = CropResizer(padded_, crop, target, interpolation);
  return WithImageSize(input, height, width);
}

void ResizingStep::Pad(const float* in) {
  const int64_t top = (padded_.height - image_.height) / 2;
  const int64_t left = (padded_.width - image_.width) / 2;
  float* row =
      memory_.data() + top * padded_.row_size() + left * image_.channels;
  for (int64_t y = 0; y < image_.height; ++y) {
    std::copy_n(in + y * image_.row_size(), image_.row_size(), row);
    row += padded_.row_size();
  }
}

absl::Status ResizingStep::Apply(const float* in, float* out,
                                 StepRandom& /*random*/) {
  if (pad_to_aspect_ratio) {
    Pad(in);
    in = memory_.data();
  }
  resizer_.Apply(in, out);
  return absl::OkStatus();
}

}  // namespace paceline
