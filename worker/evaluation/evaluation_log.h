// evaluator.csv: the metrics on each checkpoint, one row per step.
#ifndef PACELINE_WORKER_EVALUATION_EVALUATION_LOG_H_
#define PACELINE_WORKER_EVALUATION_EVALUATION_LOG_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/session/machine/logged_metric.h"

namespace paceline {

// Reads the file again in each call, since the leader of a new run may delete
// it. Rows end in \r\n, as in history.csv. Not thread-safe; a file may have
// only one writer.
class EvaluationLog {
 public:
  // The columns are the loss and the metrics. A file with other columns belongs
  // to another job and is replaced.
  EvaluationLog(std::string path, absl::Span<const LoggedMetric> metrics);

  // Whether there is a row for the checkpoint after `step` steps.
  absl::StatusOr<bool> Has(int64_t step) const;

  // Appends a row with the metrics' values, or replaces the row of the same
  // step. The file is replaced atomically.
  absl::Status Set(int64_t step, const Logs& logs) const;

 private:
  // The header and the rows in the file.
  absl::StatusOr<std::string> Read() const;

  const std::string path_;
  const std::string header_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_EVALUATION_EVALUATION_LOG_H_
