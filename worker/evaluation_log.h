// evaluator.csv: what an evaluator found, a row a checkpoint.
#ifndef PACELINE_WORKER_EVALUATION_LOG_H_
#define PACELINE_WORKER_EVALUATION_LOG_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/session/logged_metric.h"

namespace paceline {

// The file is read anew at each call, so that it may be taken away, as the
// leader of a new run does. Rows end in \r\n, as those of history.csv. Not
// thread-safe; one writer a file.
class EvaluationLog {
 public:
  // Of the loss and these metrics. A file with other columns is of another job,
  // and begun anew.
  EvaluationLog(std::string path, absl::Span<const LoggedMetric> metrics);

  // Whether the checkpoint after `step` steps has its row.
  absl::StatusOr<bool> Has(int64_t step) const;

  // Adds a row of the metrics' values; the file is written whole or not at all.
  absl::Status Add(int64_t step, const Logs& logs) const;

 private:
  // The header and the rows so far.
  absl::StatusOr<std::string> Read() const;

  const std::string path_;
  const std::string header_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_EVALUATION_LOG_H_
