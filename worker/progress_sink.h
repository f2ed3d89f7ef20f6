// Receives a trainer's progress.
#ifndef PACELINE_WORKER_PROGRESS_SINK_H_
#define PACELINE_WORKER_PROGRESS_SINK_H_

#include <cstdint>

#include "paceline/v1/coordinator.pb.h"

namespace paceline {

// Thread-safe. No call blocks.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;

  // A piece of work is finished: a section or a batch.
  virtual void Worked() = 0;
  // The replica's progress with a lease; `complete` after its last step. The
  // complete report has the states of all metrics, the others the first
  // MetricLayout::reported_size() numbers.
  virtual void Report(const v1::LeaseReport& report, bool complete) = 0;
  // The replica's part of a row of steps.csv; see StepReport. Steps are
  // reported in order.
  virtual void ReportStep(int64_t step, double total, double weight) = 0;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_PROGRESS_SINK_H_
