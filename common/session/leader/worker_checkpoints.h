// Checkpoints of variables that workers hold. The worker of rank 0 writes them.
#ifndef PACELINE_COMMON_SESSION_LEADER_WORKER_CHECKPOINTS_H_
#define PACELINE_COMMON_SESSION_LEADER_WORKER_CHECKPOINTS_H_

#include <string>

#include "absl/time/time.h"
#include "common/cluster/blame.h"
#include "common/session/leader/shared_session.h"
#include "common/session/leader/variable_holders.h"
#include "common/session/machine/session.h"

namespace paceline {

// The leader does not call workers: rank 0 gets the order with the answer to
// its next AcquireLease, and reports when it is done. Not thread-safe: used by
// the leader's thread.
class WorkerCheckpoints : public VariableHolders {
 public:
  // `session` must outlive the object.
  explicit WorkerCheckpoints(SharedSession& session) : session_(session) {}

  void Snapshot(const std::string& name, SnapshotDone done) override;
  void WriteCheckpoint(const std::string& folder, bool is_kept,
                       WriteDone done) override;

  // The worker's report.
  void Reported(const CheckpointReported& report);
  // Gives up after a deadline. Call it often.
  void Poll();

 private:
  SharedSession& session_;
  // The checkpoint's name, and the task to blame if no report comes.
  std::string name_;
  Blame blame_;
  // Each is null once it was called.
  SnapshotDone snapshot_done_;
  WriteDone write_done_;
  absl::Time deadline_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_WORKER_CHECKPOINTS_H_
