// A replica's part in a trace of training steps: switches its lanes on and off.
#ifndef PACELINE_WORKER_TRACE_REPLICA_TRACE_H_
#define PACELINE_WORKER_TRACE_REPLICA_TRACE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/callback/profile_batch.h"
#include "worker/trace/trace_recorder.h"

namespace paceline {

// The lane of the replica's own thread has a span for each step, from when it
// asks for the batch on. Not thread-safe: for that thread; but other threads
// may record on the lanes.
class ReplicaTrace {
 public:
  // `name`: of the replica, and of its own lane. `steps` are those to record.
  // `done` is called once, when they are over, on the thread of the event.
  // `recorder` must outlive the trace.
  ReplicaTrace(TraceRecorder& recorder, std::string name, ProfileBatch steps,
               std::function<void()> done);

  const std::string& name() const { return name_; }
  // What the replica's own thread does.
  TraceLane& lane() { return *lanes_.front(); }
  // Another lane, which is on in the same steps. Call it before the first step.
  TraceLane& AddLane(absl::string_view name);

  // Events: the replica waits for a batch. It has one, and begins a step of
  // that number, or something else than a training step. The step has ended.
  // There are no more batches.
  void Waits();
  void BeginStep(int64_t step);
  void BeginOther();
  void EndStep();
  void End();

 private:
  void Switch(bool is_on);

  TraceRecorder& recorder_;
  const std::string name_;
  const ProfileBatch steps_;
  // Null once it was called.
  std::function<void()> done_;
  std::vector<TraceLane*> lanes_;
  std::optional<absl::Time> waits_since_;
  // The last step that has begun.
  int64_t step_ = 0;
};

// For whoever has a trace or not: null if `trace` is.
inline TraceLane* LaneOf(ReplicaTrace* trace) {
  return trace == nullptr ? nullptr : &trace->lane();
}
inline TraceLane* NewLane(ReplicaTrace* trace, absl::string_view name) {
  return trace == nullptr ? nullptr : &trace->AddLane(name);
}

}  // namespace paceline

#endif  // PACELINE_WORKER_TRACE_REPLICA_TRACE_H_
