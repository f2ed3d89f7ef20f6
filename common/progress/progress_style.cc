#include "common/progress/progress_style.h"

#include "common/progress/keras2_progress.h"
#include "common/progress/keras3_progress.h"

namespace paceline {

std::unique_ptr<const ProgressStyle> MakeProgressStyle(
    v1::ProgressStyle style) {
  if (style == v1::PROGRESS_STYLE_KERAS2) {
    return std::make_unique<Keras2Progress>();
  }
  return std::make_unique<Keras3Progress>();
}

}  // namespace paceline
