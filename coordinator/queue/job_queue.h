// The queue of a service, as a state machine without I/O: which jobs wait,
// which start, on which daemons, and how they end.
//
//                  place found             all tasks were started
//       QUEUED ──────────────────> STARTING ─────────────────────> RUNNING
//       │ ^                            │ leader over, start failed,   │
//       │ │ retry                      │ stopped for too long         │
//  stop │ └────────────────────── ENDING <────────────────────────────┘
//       v                            │ no task is left
//  STOPPED <────────────────────────-┴──> SUCCEEDED, FAILED, STOPPED
//
// The coordinator feeds in events (a submission, a daemon's message, the
// passing of time) and carries out the actions that come back. It stores
// records before it answers or sends anything, so that what others know
// survives it; from the records a new queue goes on where the old one was. The
// same code runs in the coordinator and under a simulation of 1,000 daemons
// (tests/simulation).
//
// Daemons are told what they should hold, never what to do: a daemon reports
// its tasks, and the answer names those that it should have. Messages may be
// lost, repeated or late.
//
// The leader is a task of the job, beside ps-0, or worker-0 where there is no
// ps. Its end is the end of the job, and its exit code (exit_code.h) says how.
// What becomes of a job that runs while one of its other tasks is lost, the
// leader decides. While the job starts, a lost task ends the start; so does one
// that leaves with its daemon just after that: the leader may not know it yet.
//
// Promises:
//  * A job is started again only after each task of its last start is over: its
//    daemon said so, or a later incarnation of the daemon did, or the daemon
//    has been silent for `daemon_timeout` and still is.
//  * Tasks of a start get their places all at once, or none does. No daemon is
//    given more than it has.
//  * Among jobs that may start, the first that does not fit has a place
//    reserved, and no job behind it takes that (reservation.h).
//  * A submission with a key that the user has used before is that job, unless
//    the job was deleted. No two jobs ever have the same id.
//  * A job that ends for good does not wait for daemons that are silent.
//  * What waits has a time: a silent daemon, a job that starts, a job that
//    should stop, a job's own timeout, the next start of a job that failed.
//    What waits for room says what is missing.
#ifndef PACELINE_COORDINATOR_QUEUE_JOB_QUEUE_H_
#define PACELINE_COORDINATOR_QUEUE_JOB_QUEUE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "coordinator/queue/daemon.h"
#include "coordinator/queue/quota.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

// Whether a job in this state has ended for good.
bool HasEnded(v1::JobState state);

struct JobQueueOptions {
  // Drawn at the coordinator's start; never 0.
  uint64_t incarnation = 0;
  // Daemons of other versions get no new tasks.
  std::string version;
  // Users that are not here have no quota, unless kOtherUsers is.
  Quotas quotas;
  // Submissions that wait, of all users.
  int max_queued = 100'000;
  int max_daemons = 16'384;

  // A daemon that is silent for longer gets no new tasks.
  absl::Duration silence_timeout = absl::Seconds(15);
  // A daemon that is silent for longer has lost its tasks, and is forgotten,
  // unless it is drained, if it said that it leaves.
  absl::Duration daemon_timeout = absl::Minutes(5);
  // Any other lost daemon is forgotten, unless it is drained.
  absl::Duration forget_after = absl::Hours(24);
  // For a job that should stop, before its tasks are killed: it may write a
  // checkpoint for limits::kCheckpointTimeout.
  absl::Duration stop_timeout = absl::Minutes(11);
  // For all tasks of a job to be started.
  absl::Duration start_timeout = absl::Minutes(10);
  // For the tasks of a job that were started to find their leader.
  absl::Duration join_timeout = absl::Seconds(15);
  // For the leader to say why, after a task was lost while the job started.
  absl::Duration start_failure_timeout = absl::Seconds(10);
  // For daemons that an earlier queue knew to report what they hold.
  absl::Duration settle_timeout = absl::Seconds(15);
  // A start that a machine which goes away has ended is no failure, unless it
  // is one of so many in a row that have not run for so long.
  uint32_t max_departures = 100;
  absl::Duration long_start = absl::Minutes(10);
  // Before a job that failed is started again: doubled with each failure.
  absl::Duration min_backoff = absl::Seconds(10);
  absl::Duration max_backoff = absl::Minutes(5);
};

// Order: store the record, in place of the one with its id or name.
struct StoreJob {
  v1::JobRecord record;
};
struct StoreDaemon {
  v1::DaemonRecord record;
};
// Order: store the number of the last submission, which no other gets, also if
// its job is deleted.
struct StoreLastNumber {
  uint64_t number = 0;
};
// Order: remove the record from the store.
struct RemoveJob {
  std::string id;
};
struct RemoveDaemon {
  std::string name;
};
// What Sync would answer this daemon has changed.
struct OrdersChanged {
  std::string daemon;
};
// Store and remove what one call gives in one transaction, and answer and send
// nothing before that is on disk.
using QueueAction = std::variant<StoreJob, StoreDaemon, StoreLastNumber,
                                 RemoveJob, RemoveDaemon, OrdersChanged>;

// Not thread-safe. `now` must never go back. A returned error is the answer to
// the caller.
class JobQueue {
 public:
  // `jobs`, `daemons` and `last_number` are what an earlier queue had stored,
  // or nothing and 0. DataLoss names the record that no queue has stored.
  static absl::StatusOr<std::unique_ptr<JobQueue>> Create(
      JobQueueOptions options, const std::vector<v1::JobRecord>& jobs,
      const std::vector<v1::DaemonRecord>& daemons, uint64_t last_number,
      absl::Time now);
  ~JobQueue();

  // Event: a person submits a job. Returns its id. FailedPrecondition: the job
  // would not fit if no other ran, on all daemons that are known and not
  // drained; says what is missing. If there is no daemon of a type at all, the
  // job waits for some. AlreadyExists: the key is that of another job.
  // ResourceExhausted: it exceeds the user's quota, or the queue is full.
  // InvalidArgument: see CheckSubmission.
  absl::StatusOr<std::string> Submit(const v1::Submission& submission,
                                     absl::Time now);
  // Event: a person stops a job. A job that has ended stays as it is. NotFound:
  // there is no such job; the same below.
  absl::Status StopJob(absl::string_view id, absl::Time now);
  // Event: a person deletes a job. FailedPrecondition: it has not ended.
  absl::Status DeleteJob(absl::string_view id);
  // Event: a person drains a daemon, or takes that back.
  absl::Status DrainDaemon(absl::string_view name, bool is_drained);

  // Event: a daemon's message. FailedPrecondition: a later incarnation of the
  // daemon is known. Unavailable: another daemon has its name. Aborted: a later
  // message of this incarnation is known; the daemon waits for the answer to
  // that. ResourceExhausted: there are too many daemons. InvalidArgument: see
  // CheckSync.
  absl::StatusOr<v1::SyncResponse> Sync(const v1::SyncRequest& request,
                                        absl::Time now);
  // Event: the coordinator itself stood still for so long, and heard nobody.
  void StoodStill(absl::Duration time);
  // Event: time passed. Call it at least every 100 ms.
  void Tick(absl::Time now);

  // Starts what can start, and returns the actions since the last call.
  std::vector<QueueAction> TakeActions(absl::Time now);

  // Null: there is no such job. Valid until the next event.
  const v1::JobRecord* FindJob(absl::string_view id) const;
  // In the order of submission; valid until the next event.
  std::vector<const v1::JobRecord*> Jobs() const;
  const DaemonTable& daemons() const;

  // Why a queued job does not run: "waits for 4 workers of 8 cores each: …". Of
  // a job that holds tasks: for which silent daemon it waits. "" otherwise.
  std::string WhyQueued(absl::string_view id, absl::Time now) const;

  // Internal, naming the broken invariant, unless:
  //  * A job has tasks on daemons exactly while it starts, runs or ends, each
  //    on one daemon, whose current incarnation it belongs to.
  //  * A daemon's `used` is the sum of its tasks, and not above its total. One
  //    that is lost has none, and holds no job up.
  //  * Those who outlast a reservation leave its place free.
  //  * The queue holds exactly the queued jobs; a key belongs to one job.
  // For tests; takes time in proportion to all jobs and daemons.
  absl::Status CheckInvariants() const;

  // For the source files of this class; see queue_state.h.
  struct State;

 private:
  JobQueue();
  std::unique_ptr<State> state_;
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_QUEUE_JOB_QUEUE_H_
