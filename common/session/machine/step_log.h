// The rows of steps.csv that workers have reported.
#ifndef PACELINE_COMMON_SESSION_MACHINE_STEP_LOG_H_
#define PACELINE_COMMON_SESSION_MACHINE_STEP_LOG_H_

#include <vector>

#include "absl/types/span.h"
#include "common/session/machine/step_row.h"

namespace paceline {

// Not thread-safe; a value.
class StepLog {
 public:
  // With `adds_up` all replicas take each step together, and their parts are
  // summed into one row. Otherwise each part is a row of its own.
  explicit StepLog(bool adds_up = false) : adds_up_(adds_up) {}

  // Rows beyond limits::kMaxStepRows are dropped, with a line in the log.
  void Add(const StepRow& row);

  // Sorted by step; rows of the same step in the order of their arrival.
  absl::Span<const StepRow> rows() const { return rows_; }

 private:
  bool adds_up_;
  bool is_full_ = false;
  std::vector<StepRow> rows_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_STEP_LOG_H_
