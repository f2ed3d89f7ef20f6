// The private state of JobQueue, shared by its source files: job_queue.cc has
// what people ask for, queue_sync.cc what daemons report, queue_schedule.cc
// which jobs start, why_queued.cc why others do not, job_states.cc how jobs go
// from state to state, queue_restore.cc the start from records,
// queue_invariants.cc the invariants.
#ifndef PACELINE_COORDINATOR_QUEUE_QUEUE_STATE_H_
#define PACELINE_COORDINATOR_QUEUE_QUEUE_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/cluster/task.h"
#include "coordinator/queue/daemon.h"
#include "coordinator/queue/demand.h"
#include "coordinator/queue/fit.h"
#include "coordinator/queue/job_queue.h"
#include "coordinator/queue/reservation.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

// The exit code of a task whose end nobody saw.
inline constexpr int kUnseenExitCode = 255;

struct JobQueue::State {
  struct Job {
    v1::JobRecord record;
    Demand demand;
    // The same for jobs of equal demands, and only for these.
    std::string shape;
    // Counts starts of all jobs; 0: started under an earlier queue.
    uint64_t start = 0;
    // When all of its tasks were started, since this queue began.
    absl::Time running_since = absl::InfinitePast();

    uint64_t number() const { return record.number(); }
    bool HoldsTasks() const;
    bool HasEnded() const;
    // Where the record has the task, whose type and index the job must have.
    v1::Placement& PlacementOf(TaskId task);
    // The leader's is the first.
    const v1::Placement& leader() const { return record.placements(0); }
  };
  // What a user's jobs hold.
  struct Usage {
    Resources resources;
    int jobs = 0;
  };

  // --- job_states.cc: every change of a job's record ---

  // QUEUED, or again QUEUED, to STARTING.
  void Start(Job& job, const Assignment& assignment, absl::Time now);
  // A daemon reports a task that is not over.
  void TaskRuns(Job& job, v1::Placement& placement, absl::string_view address,
                absl::Time now);
  // A task that was not over is. `usage`: null where nobody knows it.
  void TaskOver(Job& job, v1::Placement& placement, int exit_code,
                absl::string_view error, absl::Time now,
                const v1::Usage* usage = nullptr);
  // The job should end soon; after a while it is made to.
  void RequestStop(Job& job, v1::StopReason reason, absl::Time now);
  // A job that waits ends.
  void EndQueued(Job& job, v1::JobState state, absl::string_view error,
                 absl::Time now);
  // What is due by now: timeouts, tasks to kill.
  void CheckTimes(Job& job, absl::Time now);
  // When the job has ended at the latest, as far as its timeout says.
  absl::Time EndOf(const Job& job, absl::Time now) const;

  // --- queue_schedule.cc ---

  void StartJobs(absl::Time now);
  bool IsSettled(absl::Time now) const;
  // Null: the user has none.
  const Quota* QuotaOf(const std::string& user) const;
  Usage UsageOf(const std::string& user) const;
  // Whether the user may not hold one more job, of these resources, now.
  bool ExceedsQuota(const std::string& user, const Resources& more) const;
  // The name of a daemon that still holds a task of an earlier start of the
  // job, which was given up; "" if there is none.
  std::string DaemonWithStray(const std::string& id) const;
  // Daemons that may get tasks.
  std::vector<const Daemon*> OpenDaemons() const;
  bool HasDaemonsOfEachType(const Demand& demand) const;
  // All daemons that are not drained, empty.
  std::vector<Room> AllRooms() const;
  Holder HolderOfJob(uint64_t number, absl::Time now) const;

  // --- queue_restore.cc ---

  // Enters the tasks of a job that Add has entered. DataLoss: a daemon of them
  // is not known.
  absl::Status Restore(Job& job);

  // --- job_queue.cc ---

  Job* Find(absl::string_view id);
  // Enters a job, without its tasks.
  Job& Add(v1::JobRecord record);
  // Marks the record to be stored.
  void Changed(const Job& job) { changed_jobs.insert(job.number()); }
  void ChangedDaemon(const Daemon& daemon) {
    changed_daemons.insert(daemon.name);
  }

  JobQueueOptions options;
  // By number.
  std::map<uint64_t, Job> jobs;
  std::map<std::string, uint64_t> number_of_id;
  std::map<std::pair<std::string, std::string>, uint64_t> number_of_key;
  uint64_t last_number = 0;
  // Queued jobs as (-priority, number): the first starts first.
  std::set<std::pair<int64_t, uint64_t>> queued;
  // Jobs that were started and have not ended for good.
  std::set<uint64_t> begun;
  std::map<std::string, Usage> usage;
  DaemonTable daemons;

  std::optional<Reservation> reservation;
  uint64_t last_start = 0;
  // Until then nothing starts, unless all daemons are heard of that an earlier
  // queue knew: they may hold tasks of jobs that wait, and the place that the
  // earlier queue kept for a job.
  absl::Time settles_at = absl::InfinitePast();
  // Something has changed since the last look for jobs that can start.
  bool should_schedule = true;
  absl::Time last_look = absl::InfinitePast();
  // When Tick looks at the times of jobs and daemons again.
  absl::Time next_check = absl::InfinitePast();
  // When the next queued job may start again after a failure.
  absl::Time next_start = absl::InfiniteFuture();

  std::set<uint64_t> changed_jobs;
  std::set<std::string> changed_daemons;
  bool has_new_number = false;
  // Daemons whose orders have changed.
  std::set<std::string> changed_orders;
  std::vector<QueueAction> removals;

 private:
  void SetState(Job& job, v1::JobState state);
  void GiveUpSilentTasks(Job& job, absl::Time now);
  // Whether the task has ended since its daemon leaves.
  bool HasDeparted(const v1::Placement& placement) const;
  // Whether some of the tasks may not have found their leader yet.
  bool IsGathering(const Job& job, absl::Time now) const;
  void LeaderOver(Job& job, const v1::Placement& leader, absl::Time now);
  // The leader of a job that is to start again has ended: the job may have
  // ended for good.
  void HearLeader(Job& job, const v1::Placement& leader);
  // Whether the last start has run for so long that it got somewhere.
  bool RanLong(const Job& job, absl::Time now) const;
  // A task's machine goes away, which is no failure of the job, unless it
  // happens all the time: it goes on elsewhere.
  void Requeue(Job& job, absl::string_view why, absl::Time now);
  // The start failed: the job ends, or is queued again.
  void Fail(Job& job, absl::string_view error, absl::Time now);
  void BeginEnding(Job& job, v1::JobState next, absl::string_view error,
                   absl::Time now);
  void FinishIfEmpty(Job& job, absl::Time now);
  void OrdersOfAllChanged(const Job& job);
  // Whether nothing but room keeps the job from starting. `held_up` are the
  // jobs of which tasks of an earlier start still run.
  bool MayStart(const Job& job, const std::set<std::string>& held_up,
                absl::Time now);
  // The reservation that there is, if it is for the job and holds, or else
  // another.
  std::optional<Reservation> ReserveFor(const Job& job,
                                        const std::vector<const Daemon*>& open,
                                        const HolderOf& holder_of) const;
  // The key of the job in `queued`.
  static std::pair<int64_t, uint64_t> Turn(const Job& job) {
    return {-int64_t{job.record.submission().priority()}, job.number()};
  }
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_QUEUE_QUEUE_STATE_H_
