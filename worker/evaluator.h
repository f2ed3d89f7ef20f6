// The task that evaluates checkpoints beside training.
//
// An evaluator is no peer: no task knows of it, and it knows the job only by
// its file and its output folder, which must be on a file system that it shares
// with those who write checkpoints. So it holds up nobody, may be started and
// killed at any time, and works under every strategy.
//
// It evaluates each checkpoint that it finds, the oldest first, and adds a row
// to evaluator.csv; those that training deletes before their turn are left out.
// It ends when it has evaluated the checkpoint after the last epoch, or when
// result.json says that the job ended otherwise. Files that were there before
// the evaluator may be an earlier run's: they end it only after start_timeout,
// and checkpoints of another job among them are passed over.
#ifndef PACELINE_WORKER_EVALUATOR_H_
#define PACELINE_WORKER_EVALUATOR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

struct EvaluatorOptions {
  v1::Job job;
  // Of the job: with checkpoint/ and result.json.
  std::string output_dir;
  // Threads that compute, at least 1.
  int threads = 1;
  // Within which tasks of a job may be started.
  absl::Duration start_timeout;
  // How long to wait for the next checkpoint.
  absl::Duration checkpoint_timeout;
};

// Blocks until the job is over. InvalidArgument if the job has nothing to
// evaluate, or a checkpoint of the run is of another job; DeadlineExceeded,
// naming the folder, if no checkpoint came in time; else errors of the disk and
// of checkpoints that do not fit the job.
absl::Status RunEvaluator(const EvaluatorOptions& options);

}  // namespace paceline

#endif  // PACELINE_WORKER_EVALUATOR_H_
