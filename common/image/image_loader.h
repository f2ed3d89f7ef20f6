// Makes of an encoded image the pixels that a model takes.
#ifndef PACELINE_COMMON_IMAGE_IMAGE_LOADER_H_
#define PACELINE_COMMON_IMAGE_IMAGE_LOADER_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/image/image_decoder.h"
#include "common/image/image_size.h"
#include "common/image/interpolation.h"
#include "common/image/resize.h"

namespace paceline {

struct ImageForm {
  ImageSize size;
  // As for ImageDecoder.
  int channels = 3;
  Interpolation interpolation = Interpolation::kBilinear;
  // Whether images are first cut to the form's ratio of height and width, about
  // their center, as Keras' smart_resize does it. Otherwise they are distorted.
  bool crop_to_aspect_ratio = false;

  int64_t ValueCount() const { return size.height * size.width * channels; }
};

// Not thread-safe; a thread keeps one for all images, and its memory.
class ImageLoader {
 public:
  explicit ImageLoader(const ImageForm& form)
      : form_(form), decoder_(form.channels) {}

  // Writes form.ValueCount() values from 0 to 255, as Keras'
  // image_dataset_from_directory gives them. Errors are those of ImageDecoder.
  absl::Status Load(absl::string_view bytes, float* out);

 private:
  const ImageForm form_;
  ImageDecoder decoder_;
  std::optional<Resizer> resizer_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_IMAGE_IMAGE_LOADER_H_
