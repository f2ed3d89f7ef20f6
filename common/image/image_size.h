// The size of an image.
#ifndef PACELINE_COMMON_IMAGE_IMAGE_SIZE_H_
#define PACELINE_COMMON_IMAGE_IMAGE_SIZE_H_

#include <cstdint>

namespace paceline {

// In pixels.
struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;

  bool operator==(const ImageSize&) const = default;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_IMAGE_IMAGE_SIZE_H_
