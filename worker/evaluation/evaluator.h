// The task that evaluates checkpoints while the job trains.
//
// An evaluator is no member of the job: no task knows of it, and it knows the
// job only by its file and its output folder. The folder must be on a file
// system that the evaluator shares with the tasks that write checkpoints. So it
// delays no other task, may be started and killed at any time, and works with
// every strategy.
//
// It evaluates each checkpoint that it finds, oldest first, and adds a row to
// evaluator.csv. Checkpoints that training deletes before their turn are
// skipped. It ends when it has evaluated the checkpoint after the last epoch,
// or when result.json says that the job ended. Files that existed before the
// evaluator started may be from an earlier run: only after start_timeout can
// they end the evaluator, and checkpoints of another job among them are
// skipped.
#ifndef PACELINE_WORKER_EVALUATION_EVALUATOR_H_
#define PACELINE_WORKER_EVALUATION_EVALUATOR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/read_fence.h"
#include "common/remote_file/remote_files.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

struct EvaluatorOptions {
  v1::Job job;
  // The job's output folder, with checkpoint/ and result.json.
  std::string output_dir;
  // For what opens the job's files, the cache of those by URL included.
  ReadFence fence;
  // How data that the job names by URLs is fetched.
  RemoteFilesOptions data;
  // Number of compute threads, at least 1.
  int threads = 1;
  // Time within which all tasks of a job are started.
  absl::Duration start_timeout;
  // How long to wait for the next checkpoint.
  absl::Duration checkpoint_timeout;
};

// Blocks until the job is over. InvalidArgument if the job has no data set to
// evaluate, or a checkpoint of this run is of another job. DeadlineExceeded,
// naming the folder, if no checkpoint appeared in time. Otherwise errors of the
// disk and of checkpoints that do not fit the job.
absl::Status RunEvaluator(const EvaluatorOptions& options);

}  // namespace paceline

#endif  // PACELINE_WORKER_EVALUATION_EVALUATOR_H_
