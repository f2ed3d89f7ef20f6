// What a job's callbacks want of a worker: a trace of some steps, and images of
// the first batch. The leader writes them.
#ifndef PACELINE_WORKER_LIFECYCLE_CALLBACK_REPORTS_H_
#define PACELINE_WORKER_LIFECYCLE_CALLBACK_REPORTS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/job/job_model.h"
#include "common/session/member/member.h"
#include "common/tensor/shape.h"
#include "paceline/v1/job.pb.h"
#include "worker/data/batch_pipeline.h"
#include "worker/trace/replica_trace.h"
#include "worker/trace/trace_recorder.h"

namespace paceline {

// PNG files of the first `wanted` of `count` examples of `shape`, drawn as
// `coordinator data --png` does; fewer if they are too large. InvalidArgument
// if libpng cannot encode them.
absl::StatusOr<std::vector<std::string>> DrawExamples(
    const PreparedArray& examples, const Shape& shape, int64_t count,
    int64_t wanted);

// Once created, thread-safe: each replica calls it from its own thread, which
// blocks while a report is sent.
class CallbackReports {
 public:
  // For a worker with so many replicas. `member` must outlive the object.
  // Warns if the model has no images to draw. Errors are those of
  // MakeCallbacks.
  static absl::StatusOr<std::unique_ptr<CallbackReports>> Create(
      const v1::Job& job, const JobModel& model, int replicas, Member& member);

  // What a replica records; null: nothing. The trace is sent once the steps are
  // over at all replicas.
  ReplicaTrace* trace(int replica) {
    return traces_.empty() ? nullptr : traces_[replica].get();
  }
  // See TrainerParts; null if no images are wanted.
  std::function<void(const PreparedBatch&)> on_first_batch();

 private:
  explicit CallbackReports(Member& member) : member_(member) {}

  void FindImages(const JobModel& model);
  // The steps of the trace are over at a replica.
  void EndTrace();
  void SendImages(const PreparedBatch& batch);

  Member& member_;
  // Null: there is no trace.
  std::unique_ptr<TraceRecorder> recorder_;
  std::vector<std::unique_ptr<ReplicaTrace>> traces_;
  // Replicas at which the steps of the trace are not over.
  std::atomic<int> open_ = 0;
  // How many images are wanted, and of which input, whose examples have this
  // shape.
  int64_t wanted_images_ = 0;
  size_t input_ = 0;
  Shape shape_;
};

// The message of a trace.
v1::ReportTraceRequest ToProto(const Trace& trace);

}  // namespace paceline

#endif  // PACELINE_WORKER_LIFECYCLE_CALLBACK_REPORTS_H_
