#include "tests/simulation/service.h"

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/exit_code.h"
#include "coordinator/queue/demand.h"
#include "glog/logging.h"

namespace paceline {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr int kUsers = 5;
// The names of jobs of which each start departs, and how often these may fail.
constexpr char kDepartingName[] = "departing";
constexpr uint32_t kDepartingRetries = 2;
// Until a leader notices that a task was lost, and tasks that their leader has
// ended.
constexpr absl::Duration kLossTime = absl::Seconds(8);
constexpr absl::Duration kLeaveTime = absl::Seconds(1);
constexpr absl::Duration kStopTime = absl::Seconds(2);
constexpr absl::Duration kRetry = absl::Seconds(1);
// From the signal to a daemon to its end.
constexpr absl::Duration kLeavingTime = absl::Seconds(8);

v1::Resources Size(uint64_t cores, uint64_t gib) {
  v1::Resources resources;
  resources.set_millicores(1000 * cores);
  resources.set_memory_bytes(gib * kGiB);
  return resources;
}

v1::TaskGroup Group(v1::TaskType type, int count, const v1::Resources& each) {
  v1::TaskGroup group;
  group.set_type(type);
  group.set_count(count);
  *group.mutable_each() = each;
  return group;
}

bool HasPs(const v1::Submission& submission) {
  return submission.groups_size() == 2;
}

bool IsDeparting(const v1::Submission& submission) {
  return absl::StartsWith(submission.name(), kDepartingName);
}

size_t CountTasks(const v1::Submission& submission) {
  size_t count = 1;
  for (const v1::TaskGroup& group : submission.groups()) count += group.count();
  return count;
}

}  // namespace

Service::Service(const ServiceOptions& options)
    : options_(options),
      simulator_(options.seed, options.network),
      ledger_(options.coordinator.queue.daemon_timeout) {
  daemons_.resize(options_.daemons);
  StartCoordinator();
  for (int i = 0; i < options_.daemons; ++i) StartDaemon(i);
  for (int i = 0; i < options_.jobs; ++i) {
    // All daemons are known by then.
    const absl::Duration delay =
        absl::Minutes(1) +
        simulator_.Between(absl::ZeroDuration(), options_.submit_time);
    simulator_.After(delay, people_, [this, job = DrawJob(i)] { Submit(job); });
  }
  WatchCoordinator();
  KillDaemons();
  CutDaemonsOff();
  DrainDaemons();
}

absl::Status Service::Run(absl::Duration limit) {
  return simulator_.Run([this] { return AllEnded(); }, limit);
}

bool Service::AllEnded() const {
  if (answered_ < options_.jobs) return false;
  for (const auto& [id, record] : store_.jobs) {
    if (!HasEnded(record.state())) return false;
  }
  return true;
}

v1::Submission Service::DrawJob(int index) {
  v1::Submission job;
  job.set_idempotency_key(absl::StrCat("key-", index));
  job.set_name(absl::StrCat("job", index));
  job.set_user(absl::StrCat("user-", simulator_.Index(kUsers)));
  job.set_priority(simulator_.Chance(0.2) ? 5 : 0);
  const v1::Resources each =
      Size(1 + simulator_.Index(4), 1 + simulator_.Index(4));
  const bool is_large = simulator_.Chance(options_.large);
  *job.add_groups() =
      Group(v1::TASK_TYPE_WORKER,
            is_large ? options_.many_workers : 1 + simulator_.Index(4), each);
  if (simulator_.Chance(0.5)) {
    *job.add_groups() =
        Group(v1::TASK_TYPE_PS, 1 + simulator_.Index(2), Size(1, 2));
  }
  *job.mutable_leader() = Size(1, 1);
  job.set_retries(1'000'000);
  if (simulator_.Chance(options_.departing)) {
    job.set_name(absl::StrCat(kDepartingName, index));
    job.set_retries(kDepartingRetries);
  }
  if (simulator_.Chance(options_.with_timeout)) {
    job.set_timeout_micros(absl::ToInt64Microseconds(4 * options_.longest_job));
  }
  return job;
}

void Service::Submit(const v1::Submission& submission) {
  using Answer = std::optional<absl::StatusOr<std::string>>;
  auto is_answered = std::make_shared<bool>(false);
  const std::shared_ptr<CoordinatorProcess> coordinator = coordinator_;
  simulator_.Send<Answer>(
      people_, coordinator,
      [coordinator, submission]() -> Answer {
        return coordinator->Handle([&](JobQueue& queue, absl::Time now) {
          return queue.Submit(submission, now);
        });
      },
      [this, is_answered](const Answer& answer) {
        if (!answer || *is_answered) return;
        if (!answer->ok())
          return ledger_.Violation(answer->status().ToString());
        *is_answered = true;
        // An earlier call may have been answered late.
        if (!stopped_.contains(**answer) &&
            simulator_.Chance(options_.stopped)) {
          simulator_.After(
              simulator_.Between(absl::ZeroDuration(), options_.longest_job),
              people_, [this, job = **answer] { StopJob(job); });
        }
      });
  // The same submission again, until the answer is there.
  simulator_.After(kRetry, people_, [this, is_answered, submission] {
    if (*is_answered) {
      ++answered_;
    } else {
      Submit(submission);
    }
  });
}

void Service::StopJob(const std::string& job) {
  using Answer = std::optional<absl::Status>;
  stopped_.insert(job);
  const std::shared_ptr<CoordinatorProcess> coordinator = coordinator_;
  auto is_answered = std::make_shared<bool>(false);
  simulator_.Send<Answer>(
      people_, coordinator,
      [coordinator, job]() -> Answer {
        return coordinator->Handle([&](JobQueue& queue, absl::Time now) {
          return queue.StopJob(job, now);
        });
      },
      [this, is_answered](const Answer& answer) {
        if (!answer) return;
        if (!answer->ok()) ledger_.Violation(answer->ToString());
        *is_answered = true;
      });
  simulator_.After(kRetry, people_, [this, is_answered, job] {
    if (!*is_answered) StopJob(job);
  });
}

void Service::StartCoordinator() {
  coordinator_ = std::make_shared<CoordinatorProcess>(
      simulator_, ledger_, store_, options_.coordinator,
      [this](const std::string& name) {
        for (const std::shared_ptr<DaemonProcess>& daemon : daemons_) {
          if (daemon->name() != name) continue;
          simulator_.Send<bool>(
              coordinator_, daemon,
              [daemon] {
                daemon->Sync();
                return true;
              },
              [](bool) {});
        }
      });
  coordinator_->Start();
}

void Service::WatchCoordinator() {
  absl::Duration delay = absl::Milliseconds(100);
  if (coordinator_->is_dead) {
    ++coordinator_deaths_;
    delay = simulator_.Between(delay, options_.longest_absence);
    simulator_.After(delay, people_, [this] { StartCoordinator(); });
  }
  simulator_.After(2 * delay, people_, [this] { WatchCoordinator(); });
}

void Service::StartDaemon(int index) {
  DaemonOptions options;
  options.name = absl::StrCat("node-", index);
  options.type = index % 4 == 0 ? v1::TASK_TYPE_PS : v1::TASK_TYPE_WORKER;
  options.total = Size(8, 16);
  daemons_[index] =
      std::make_shared<DaemonProcess>(simulator_, ledger_, *this, options);
  daemons_[index]->Start();
}

void Service::KillDaemons() {
  simulator_.After(options_.death_interval, people_, [this] {
    const int index = simulator_.Index(options_.daemons);
    if (!simulator_.Chance(options_.leaving)) {
      KillDaemon(index, options_.longest_absence);
    } else if (!daemons_[index]->is_dead) {
      daemons_[index]->Leave();
      simulator_.After(kLeavingTime, daemons_[index], [this, index] {
        KillDaemon(index, 3 * options_.coordinator.queue.daemon_timeout);
      });
    }
    KillDaemons();
  });
}

void Service::KillDaemon(int index, absl::Duration absence) {
  if (daemons_[index]->is_dead) return;
  daemons_[index]->Die();
  ++daemon_deaths_;
  simulator_.After(simulator_.Between(absl::Milliseconds(100), absence),
                   people_, [this, index] {
                     const std::string& name = daemons_[index]->name();
                     if (!store_.daemons.contains(name)) ++forgotten_daemons_;
                     StartDaemon(index);
                   });
}

void Service::CutDaemonsOff() {
  simulator_.After(options_.cut_interval, people_, [this] {
    const absl::Duration longest =
        2 * options_.coordinator.queue.daemon_timeout;
    daemons_[simulator_.Index(options_.daemons)]->CutOffUntil(
        simulator_.now() + simulator_.Between(absl::ZeroDuration(), longest));
    CutDaemonsOff();
  });
}

void Service::DrainDaemons() {
  simulator_.After(options_.drain_interval, people_, [this] {
    // One is drained at a time: large jobs need nearly all.
    if (coordinator_->is_dead) return DrainDaemons();
    static_cast<void>(coordinator_->Handle([&](JobQueue& queue, absl::Time) {
      const bool was_drained = !drained_.empty();
      const std::string name =
          was_drained ? drained_
                      : daemons_[simulator_.Index(options_.daemons)]->name();
      drained_ = was_drained ? "" : name;
      return queue.DrainDaemon(name, !was_drained);
    }));
    DrainDaemons();
  });
}

Resources Service::NeedOf(const RunningTask& task) {
  return DemandOf(SubmissionOf(task.job)).Of(task.task);
}

void Service::TaskStarted(const RunningTask& task,
                          const std::shared_ptr<DaemonProcess>& daemon) {
  Start& start = starts_[{task.job, task.generation}];
  start.tasks[task] = daemon;
  if (start.has_ended || start.all_ran ||
      start.tasks.size() < CountTasks(SubmissionOf(task.job))) {
    return;
  }
  start.all_ran = true;
  int exit_code = 0;
  if (simulator_.Chance(options_.failing)) {
    const int codes[] = {kJobFailed, kBadInput, kRestart};
    exit_code = codes[simulator_.Index(3)];
  }
  if (IsDeparting(SubmissionOf(task.job))) exit_code = kRestart;
  EndLeader({task.job, task.generation, kLeaderTask},
            simulator_.Between(absl::Seconds(1), options_.longest_job),
            exit_code);
}

void Service::EndLeader(const RunningTask& leader, absl::Duration delay,
                        int exit_code) {
  const Start& start = starts_[{leader.job, leader.generation}];
  const auto found = start.tasks.find(leader);
  if (found == start.tasks.end()) return;
  simulator_.After(delay, found->second,
                   [leader, daemon = found->second, exit_code] {
                     daemon->EndTask(leader, exit_code);
                   });
}

void Service::StopAsked(const RunningTask& task,
                        const std::shared_ptr<DaemonProcess>&) {
  // Some hang, and have to be killed.
  if (simulator_.Chance(0.8)) EndLeader(task, kStopTime, kStopped);
}

void Service::TaskEnded(const RunningTask& task, int exit_code) {
  Start& start = starts_[{task.job, task.generation}];
  start.tasks.erase(task);
  if (task.task != kLeaderTask) {
    const bool goes_on = start.all_ran && HasPs(SubmissionOf(task.job)) &&
                         task.task.type == TaskType::kWorker;
    if (!goes_on) {
      EndLeader({task.job, task.generation, kLeaderTask}, kLossTime,
                exit_code == kRestart ? kRestart : kJobFailed);
    }
    return;
  }
  start.has_ended = true;
  start.exit_code = exit_code;
  for (const auto& [other, daemon] : start.tasks) {
    simulator_.After(kLeaveTime, daemon, [other = other, daemon = daemon] {
      daemon->EndTask(other, 0);
    });
  }
}

void Service::CheckOutcomes() {
  if (static_cast<int>(store_.jobs.size()) != options_.jobs) {
    ledger_.Violation(absl::StrCat(store_.jobs.size(), " jobs of ",
                                   options_.jobs, " submissions"));
  }
  for (const auto& [id, record] : store_.jobs) {
    if (IsDeparting(record.submission())) {
      CheckDeparting(record);
      continue;
    }
    const auto last = starts_.find({id, record.generation()});
    const std::optional<int> exit_code =
        last != starts_.end() && last->second.has_ended
            ? std::optional<int>(last->second.exit_code)
            : std::nullopt;
    bool is_right = true;
    switch (record.state()) {
      case v1::JOB_STATE_SUCCEEDED:
        is_right = exit_code == 0;
        break;
      case v1::JOB_STATE_STOPPED:
        is_right = stopped_.contains(id);
        break;
      default:
        is_right = exit_code == kBadInput ||
                   absl::StrContains(record.error(), "its timeout of");
    }
    if (!is_right) {
      ledger_.Violation(absl::StrCat(
          id, " ended as ", v1::JobState_Name(record.state()), " (",
          record.error(), "), its leader with ", exit_code.value_or(-1)));
    }
  }
}

void Service::CheckDeparting(const v1::JobRecord& record) {
  // The start that is one departure too many has failed; failed ones may come
  // before it.
  const uint32_t most_starts =
      options_.coordinator.queue.max_departures + kDepartingRetries;
  const bool is_right = record.generation() <= most_starts &&
                        (record.state() == v1::JOB_STATE_FAILED ||
                         (record.state() == v1::JOB_STATE_STOPPED &&
                          stopped_.contains(record.id())));
  if (!is_right) {
    ledger_.Violation(absl::StrCat(
        record.id(), " ended as ", v1::JobState_Name(record.state()), " (",
        record.error(), ") after ", record.generation(), " starts"));
  }
  if (absl::StrContains(record.error(), "starts in a row")) {
    ++departed_jobs_;
  }
}

}  // namespace paceline
