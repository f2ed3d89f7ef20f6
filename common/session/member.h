// A task's side of a session: it registers, shows life, takes leases, leaves.
#ifndef PACELINE_COMMON_SESSION_MEMBER_H_
#define PACELINE_COMMON_SESSION_MEMBER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/checkpoint/manifest.h"
#include "common/cluster/cluster_spec.h"
#include "common/cluster/task.h"
#include "common/identity/caller.h"
#include "common/rpc/coordinator_client.h"
#include "common/session/pending_reports.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

struct MemberOptions {
  TaskId task;
  // Where the leader listens, and where this task does ("" if it does not).
  std::string coordinator_address;
  std::string address;
  uint64_t incarnation = 0;
  // Says so to everybody whom the process calls. Learns the job as the task
  // registers.
  std::shared_ptr<Caller> caller;
  std::string version;
  // Of the job the process was given; "" if none.
  std::string job_fingerprint;
  // That TF_CONFIG lists; empty without.
  ClusterSpec cluster;
  // Until which the leader may take to appear.
  absl::Duration start_timeout;
  // Called once, on a thread of the member's, when the leader no longer answers
  // or no longer knows this incarnation, or, with OK, wants the task to end.
  // Nothing else unblocks a task that waits for somebody, so it should end the
  // process.
  std::function<void(absl::Status)> on_stop;
};

// Thread-safe. Heartbeats go out on a thread of its own from Join to Leave.
class Member {
 public:
  // Registers, trying again until start_timeout has passed. Errors name the
  // leader's address.
  static absl::StatusOr<std::unique_ptr<Member>> Join(MemberOptions options);
  ~Member();

  const v1::RegisterResponse& registration() const { return registration_; }

  // Waits until the job starts; `sizes` carries the numbers of examples.
  // `address` is where other workers reach this one; "": nowhere, or as
  // registered.
  absl::StatusOr<v1::AwaitStartResponse> AwaitStart(v1::AwaitStartRequest sizes,
                                                    const std::string& address);

  // Copies the variables for the checkpoint `name`. Returns what starts to
  // write the copy, to be called once the leader knows of it: so that it never
  // takes an error of writing for one of copying.
  using TakeSnapshot = std::function<absl::StatusOr<std::function<void()>>(
      const std::string& name)>;

  // Waits for work. nullopt: the job is over. Calls `take_snapshot` when the
  // leader asks for it, which it does only of a worker that holds the
  // variables, and tells it the result; null: they are elsewhere. An error of
  // copying is returned.
  absl::StatusOr<std::optional<v1::Lease>> AcquireLease(
      const TakeSnapshot& take_snapshot);

  // Tells the leader that a snapshot was written, or why not.
  void ReportCheckpoint(const std::string& name,
                        const absl::StatusOr<ShardFile>& file);

  // How far the task is with a lease; `complete` ones are reported at once and
  // then forgotten, others with the next heartbeat, but for a first step whose
  // loss is not finite, which is told at once, too.
  void Report(const v1::LeaseReport& report, bool complete);
  // What this worker adds to a row of steps.csv.
  void ReportStep(const v1::StepReport& step);

  // Grows with each piece of work done. Lock-free.
  std::atomic<uint64_t>& activity() { return activity_; }
  // Names what the task waits for, for the leader's error; "" while it works.
  void SetWaitingFor(absl::string_view what);
  std::string waiting_for();

  // Says goodbye, with the reason if it is an error, and ends the heartbeats.
  void Leave(const absl::Status& reason);

 private:
  explicit Member(MemberOptions options);

  // Reports that wait for a heartbeat.
  size_t PendingCount();
  bool Leaving();
  // Repeats the report until the leader has it.
  void SendReport(const v1::ReportCheckpointRequest& request);
  void Run();
  // `is_full`: reports had no room in it.
  v1::HeartbeatRequest NextHeartbeat(bool& is_full);
  // Beats once. Returns whether to go on.
  bool Beat();
  void SendLeave(const absl::Status& reason);

  const MemberOptions options_;
  CoordinatorClient client_;
  v1::Member self_;
  v1::RegisterResponse registration_;
  absl::Duration heartbeat_interval_;
  absl::Duration heartbeat_timeout_;
  std::atomic<uint64_t> activity_ = 0;
  std::atomic<uint64_t> lease_request_ = 1;
  // Of the heartbeat thread.
  absl::Time last_answer_;

  Mutex mutex_;
  CondVar poked_;
  bool leaving_ ABSL_GUARDED_BY(mutex_) = false;
  bool beat_now_ ABSL_GUARDED_BY(mutex_) = false;
  std::string waiting_for_ ABSL_GUARDED_BY(mutex_);
  PendingReports pending_ ABSL_GUARDED_BY(mutex_);
  std::thread heartbeats_;
};

// Largest resident set of this process so far, in bytes.
uint64_t PeakResidentBytes();

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MEMBER_H_
