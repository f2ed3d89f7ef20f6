// The loss of a step, for steps.csv.
#ifndef PACELINE_COMMON_SESSION_MACHINE_STEP_ROW_H_
#define PACELINE_COMMON_SESSION_MACHINE_STEP_ROW_H_

#include <cstdint>

namespace paceline {

struct StepRow {
  // From 1 to limits::kMaxSteps.
  int64_t step = 0;
  // Σ loss·weight; may be infinite or NaN.
  double total = 0;
  // Σ weight; positive.
  double weight = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_STEP_ROW_H_
