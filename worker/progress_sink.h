// Where a trainer tells how far it is.
#ifndef PACELINE_WORKER_PROGRESS_SINK_H_
#define PACELINE_WORKER_PROGRESS_SINK_H_

#include <cstdint>

#include "paceline/v1/coordinator.pb.h"

namespace paceline {

// Thread-safe. No call blocks.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;

  // A piece of work is done: a section, a batch.
  virtual void Worked() = 0;
  // How far the replica is with a lease; `complete` at its last step. That
  // report has the states of all metrics, the others MetricLayout's
  // reported_size() numbers.
  virtual void Report(const v1::LeaseReport& report, bool complete) = 0;
  // What the replica adds to a row of steps.csv, as StepReport has it; a step
  // after the other.
  virtual void ReportStep(int64_t step, double total, double weight) = 0;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_PROGRESS_SINK_H_
