// The progress of an epoch as Keras 3 shows it:
//
//   938/938 ━━━━━━━━━━━━━━━━━━━━ 3s 3ms/step - loss: 0.2027
//
// and with verbose=2:
//
//   938/938 - 3s - 3ms/step - loss: 0.2027
//
// The metrics are sorted by name, and those of the validation come after them.
// Source: Keras 3.15, utils/progbar.py.
#ifndef PACELINE_COMMON_PROGRESS_KERAS3_PROGRESS_H_
#define PACELINE_COMMON_PROGRESS_KERAS3_PROGRESS_H_

#include <string>

#include "common/progress/progress_style.h"

namespace paceline {

class Keras3Progress : public ProgressStyle {
 public:
  BarText Bar(const EpochProgress& progress) const override;
  std::string Line(const EpochProgress& progress) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_PROGRESS_KERAS3_PROGRESS_H_
