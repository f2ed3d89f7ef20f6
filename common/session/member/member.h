// A task's side of a session: registers, sends heartbeats, takes leases,
// leaves.
#ifndef PACELINE_COMMON_SESSION_MEMBER_MEMBER_H_
#define PACELINE_COMMON_SESSION_MEMBER_MEMBER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/checkpoint/manifest_content.h"
#include "common/cluster/cluster_spec.h"
#include "common/cluster/task.h"
#include "common/identity/caller.h"
#include "common/rpc/coordinator_client.h"
#include "common/session/member/pending_reports.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

struct MemberOptions {
  TaskId task;
  // Where the leader listens, and where this task listens ("" if nowhere).
  std::string coordinator_address;
  std::string address;
  uint64_t incarnation = 0;
  // Identifies this task in all calls of the process. Learns the job's id when
  // the task registers.
  std::shared_ptr<Caller> caller;
  std::string version;
  // Fingerprint of the job given by --job; "" if none.
  std::string job_fingerprint;
  // The cluster in TF_CONFIG; empty without TF_CONFIG.
  ClusterSpec cluster;
  // Asked about the job that the leader tells; null: any will do.
  std::function<absl::Status(const v1::Job& job)> check_job;
  // How long to wait for the leader to appear.
  absl::Duration start_timeout;
  // Called once, on one of the member's threads: with an error when the leader
  // no longer answers or no longer knows this incarnation, or with OK when the
  // leader wants the task to end. It should end the process, since nothing else
  // unblocks a task that waits for another task.
  std::function<void(absl::Status)> on_stop;
  // Called once, on one of the member's threads, when the leader wants the task
  // to leave and to register again for the next phase of the job. Null: the
  // task learns it by is_phase_over().
  std::function<void()> on_next_phase;
};

// Thread-safe. An own thread sends heartbeats from Join to Leave.
class Member {
 public:
  // Registers, and retries until start_timeout has passed. Errors name the
  // leader's address. If the job does not pass check_job, leaves it with that
  // error. Blocks.
  static absl::StatusOr<std::unique_ptr<Member>> Join(MemberOptions options);
  ~Member();

  const v1::RegisterResponse& registration() const { return registration_; }

  // Blocks until the job starts. `sizes` has the numbers of examples. `address`
  // is where other workers reach this one; "": nowhere, or at the registered
  // address.
  absl::StatusOr<v1::AwaitStartResponse> AwaitStart(v1::AwaitStartRequest sizes,
                                                    const std::string& address);

  // Copies the variables for the checkpoint `name`. Returns a function that
  // starts to write the copy. The member calls that function once the leader
  // knows that the copy exists; otherwise the leader could take an error of
  // writing for one of copying.
  using TakeSnapshot = std::function<absl::StatusOr<std::function<void()>>(
      const std::string& name)>;

  // Changes the variables as ordered.
  using ChangeVariables =
      std::function<absl::Status(const v1::VariablesOrder& order)>;

  // Blocks until there is a lease. nullopt: the job, or its phase, is over.
  //
  // Calls `take_snapshot` when the leader orders a snapshot, and
  // `change_variables` when it orders a change, once for each order, and
  // reports the result. The leader orders these only from a worker that holds
  // the variables. Pass null if this task does not hold them. Returns an error
  // of copying or changing.
  absl::StatusOr<std::optional<v1::Lease>> AcquireLease(
      const TakeSnapshot& take_snapshot,
      const ChangeVariables& change_variables = nullptr);

  // Reports to the leader that a checkpoint's file was written, or why not.
  void ReportCheckpoint(const std::string& name,
                        const absl::StatusOr<ShardFile>& file);

  // Reports what callbacks want of this worker. They block until the leader has
  // it, or the task leaves.
  void ReportTrace(v1::ReportTraceRequest report);
  void ReportImages(v1::ReportImagesRequest report);

  // Reports the task's progress with a lease. The report is sent at once if it
  // is `complete` (the last of its lease) or the first with a non-finite loss;
  // otherwise with the next heartbeat.
  void Report(const v1::LeaseReport& report, bool complete);
  // Adds this worker's part of a row of steps.csv to the next heartbeat.
  void ReportStep(const v1::StepReport& step);

  // A counter that the task increments with each piece of finished work; the
  // leader takes a task whose counter stands still for stalled. Lock-free.
  std::atomic<uint64_t>& activity() { return activity_; }
  // Names what the task waits for, to be shown in the leader's error. "": the
  // task does not wait.
  void SetWaitingFor(absl::string_view what);
  std::string waiting_for();

  // Tells the leader that this task was asked to leave. If the job cannot do
  // without it, the leader ends the job, and so calls on_stop.
  void AskToLeave();

  // Stops the heartbeats and leaves the job, with `reason` if it is an error.
  void Leave(const absl::Status& reason);

  // Whether the leader has said that the phase of the job is over, and that the
  // task has to register again for the next one. Asks the leader in Leave for
  // the last time.
  bool is_phase_over() const { return is_phase_over_; }

 private:
  explicit Member(MemberOptions options);

  // Reports that wait for a heartbeat.
  size_t PendingCount();
  bool Leaving();
  // Retries until the leader has the report.
  void SendReport(const v1::ReportCheckpointRequest& request);
  // Sends a report by `send` until it has arrived, or the task leaves.
  void Deliver(absl::FunctionRef<absl::Status()> send);
  // The same of what the job can do without: gives up in time, with a warning,
  // before the leader takes the worker for stalled. `what`: "a trace".
  void DeliverForCallbacks(absl::string_view what,
                           absl::FunctionRef<absl::Status()> send);
  // Carries out an order, unless it has done so before, and reports it.
  absl::Status CarryOut(const v1::VariablesOrder& order,
                        const ChangeVariables& change_variables);
  void Run();
  // Sets `is_full` if some reports did not fit.
  v1::HeartbeatRequest NextHeartbeat(bool& is_full);
  // Sends one heartbeat. Returns whether to send further ones.
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
  std::atomic<bool> is_phase_over_ = false;
  // The number of the last order that was carried out. Used by AcquireLease
  // alone.
  uint64_t last_order_ = 0;
  // Used by the heartbeat thread only, and by Leave once that has ended.
  absl::Time last_answer_;
  bool has_told_next_phase_ = false;

  Mutex mutex_;
  CondVar poked_;
  bool leaving_ ABSL_GUARDED_BY(mutex_) = false;
  bool beat_now_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_asked_to_leave_ ABSL_GUARDED_BY(mutex_) = false;
  std::string waiting_for_ ABSL_GUARDED_BY(mutex_);
  PendingReports pending_ ABSL_GUARDED_BY(mutex_);
  std::thread heartbeats_;
};

// Peak resident set size of this process, in bytes.
uint64_t PeakResidentBytes();

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MEMBER_MEMBER_H_
