// Checkpoints of variables that the workers hold: the one of rank 0 is asked.
#ifndef PACELINE_COMMON_SESSION_WORKER_CHECKPOINTS_H_
#define PACELINE_COMMON_SESSION_WORKER_CHECKPOINTS_H_

#include <string>

#include "absl/time/time.h"
#include "common/cluster/blame.h"
#include "common/session/session.h"
#include "common/session/shared_session.h"
#include "common/session/variable_holders.h"

namespace paceline {

// A worker is not called: it gets the order as it asks for its next lease, and
// reports. Not thread-safe: for the leader's thread.
class WorkerCheckpoints : public VariableHolders {
 public:
  // `session` outlives the object.
  explicit WorkerCheckpoints(SharedSession& session) : session_(session) {}

  void Snapshot(const std::string& name, SnapshotDone done) override;
  void WriteCheckpoint(const std::string& name, WriteDone done) override;

  // What the worker reported.
  void Reported(const CheckpointReported& report);
  // Gives up after a deadline. To be called often.
  void Poll();

 private:
  SharedSession& session_;
  // Of the checkpoint, and who is to blame if it does not come.
  std::string name_;
  Blame blame_;
  // Null once they were called.
  SnapshotDone snapshot_done_;
  WriteDone write_done_;
  absl::Time deadline_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_WORKER_CHECKPOINTS_H_
