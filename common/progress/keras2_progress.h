// The progress of an epoch as Keras 2 shows it:
//
//   938/938 [==============================] - 3s 3ms/step - loss: 0.2027
//
// and with verbose=2:
//
//   938/938 - 3s - loss: 0.2027 - 3s/epoch - 3ms/step
//
// The loss comes first. Source: tf_keras 2.21, utils/generic_utils.py.
#ifndef PACELINE_COMMON_PROGRESS_KERAS2_PROGRESS_H_
#define PACELINE_COMMON_PROGRESS_KERAS2_PROGRESS_H_

#include <string>

#include "common/progress/progress_style.h"

namespace paceline {

class Keras2Progress : public ProgressStyle {
 public:
  BarText Bar(const EpochProgress& progress) const override;
  std::string Line(const EpochProgress& progress) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_PROGRESS_KERAS2_PROGRESS_H_
