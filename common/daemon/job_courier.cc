#include "common/daemon/job_courier.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/daemon/job_folder.h"
#include "common/rpc/transient_error.h"

namespace paceline {
namespace {

// Between two looks at the logs, for tasks that have ended, and for
// checkpoints.
constexpr absl::Duration kShipInterval = absl::Milliseconds(200);
constexpr absl::Duration kOutputInterval = absl::Seconds(5);
// Between two attempts.
constexpr absl::Duration kRetryInterval = absl::Milliseconds(500);
// The same for outputs that the coordinator has no room for: each attempt
// hashes them.
constexpr absl::Duration kFullInterval = absl::Minutes(1);
// After the end of a task, what the coordinator refuses for so long is given
// up.
constexpr absl::Duration kPatience = absl::Seconds(5);
// The same for what it has no room for: somebody must notice, and make room.
constexpr absl::Duration kFullPatience = absl::Hours(6);
// Pieces of one log until it is another's turn.
constexpr int kPiecesAtOnce = 16;

// Whether `error` is news after the `last` one. What is free on a full disk
// changes all the time.
bool IsNews(const absl::Status& error, const absl::Status& last) {
  return error.code() != last.code() || (!absl::IsResourceExhausted(error) &&
                                         error.message() != last.message());
}

}  // namespace

JobCourier::JobCourier(ServiceClient& client, std::string folder,
                       const HeldTask& first)
    : client_(client),
      folder_(std::move(folder)),
      first_(first),
      outputs_(client, folder_, first.ToProto()),
      files_thread_([this] { CarryFiles(); }),
      logs_thread_([this] { CarryLogs(); }) {}

JobCourier::~JobCourier() {
  Stop();
  files_thread_.join();
  logs_thread_.join();
}

std::optional<absl::Status> JobCourier::fetched() {
  MutexLock lock(mutex_);
  return fetched_;
}

void JobCourier::TaskStarted(const HeldTask& task, const std::string& log_path,
                             const std::string& progress_path) {
  MutexLock lock(mutex_);
  tasks_.emplace(task, Task{LogShipper(client_, task.ToProto(), log_path,
                                       task.is_leader() ? progress_path : "")});
  changed_.NotifyAll();
}

void JobCourier::TaskEnded(const HeldTask& task) {
  MutexLock lock(mutex_);
  tasks_.at(task).has_ended = true;
  changed_.NotifyAll();
}

bool JobCourier::HasShipped(const HeldTask& task) {
  MutexLock lock(mutex_);
  const Task& ended = tasks_.at(task);
  return ended.is_log_shipped && ended.are_outputs_shipped;
}

std::string JobCourier::LostOutputs(const HeldTask& task) {
  MutexLock lock(mutex_);
  return tasks_.at(task).lost_outputs;
}

void JobCourier::CoordinatorChanged() {
  MutexLock lock(mutex_);
  for (auto& [name, task] : tasks_) task.sends_progress_again = true;
  changed_.NotifyAll();
}

void JobCourier::Hurry() {
  MutexLock lock(mutex_);
  is_hurrying_ = true;
  changed_.NotifyAll();
}

void JobCourier::Stop() {
  MutexLock lock(mutex_);
  is_stopping_ = true;
  changed_.NotifyAll();
}

bool JobCourier::HasStopped() {
  MutexLock lock(mutex_);
  return running_threads_ == 0;
}

bool JobCourier::IsStopping() {
  MutexLock lock(mutex_);
  return is_stopping_;
}

void JobCourier::Pause(absl::Duration time) {
  MutexLock lock(mutex_);
  if (!is_stopping_) changed_.WaitFor(mutex_, time);
}

bool JobCourier::GivesUp(const absl::Status& error, Task& task) {
  const absl::Time now = MonotonicNow();
  if (!task.has_ended || IsTransient(error)) {
    task.failing_since = absl::InfiniteFuture();
    task.full_since = absl::InfiniteFuture();
    return false;
  }
  if (absl::IsResourceExhausted(error)) {
    task.failing_since = absl::InfiniteFuture();
    task.full_since = std::min(task.full_since, now);
    return now - task.full_since > (is_hurrying_ ? kPatience : kFullPatience);
  }
  task.failing_since = std::min(task.failing_since, now);
  return now - task.failing_since > kPatience;
}

std::vector<HeldTask> JobCourier::WithoutOutputs() {
  MutexLock lock(mutex_);
  std::vector<HeldTask> tasks;
  for (const auto& [task, state] : tasks_) {
    if (state.has_ended && !state.are_outputs_shipped) tasks.push_back(task);
  }
  return tasks;
}

bool JobCourier::IsHurrying() {
  MutexLock lock(mutex_);
  return is_hurrying_;
}

void JobCourier::CarryFiles() {
  absl::Status fetched = Fetch();
  const bool is_ready = fetched.ok();
  if (is_ready) outputs_.SkipPresent();
  {
    MutexLock lock(mutex_);
    fetched_ = std::move(fetched);
  }
  if (is_ready) CarryOutputs();
  MutexLock lock(mutex_);
  --running_threads_;
}

absl::Status JobCourier::Fetch() {
  // Tries again for as long as the coordinator is away.
  const auto repeated = [this](const auto& call) {
    while (true) {
      auto result = call();
      if (IsStopping()) {
        return decltype(result)(absl::CancelledError("no longer wanted"));
      }
      if (result.ok() || !IsTransient(result.status())) return result;
      LOG(WARNING) << first_.ToString() << ": " << result.status().message()
                   << "; trying again";
      Pause(kRetryInterval);
    }
  };
  v1::GetTaskFilesRequest request;
  *request.mutable_task() = first_.ToProto();
  ASSIGN_OR_RETURN(const v1::GetTaskFilesResponse listed,
                   repeated([&] { return client_.GetTaskFiles(request); }));
  return FillJobFolder(folder_, listed.files(),
                       [&](const std::string& sha256,
                           uint64_t offset) -> absl::StatusOr<std::string> {
                         v1::GetFileRequest piece;
                         piece.set_sha256(sha256);
                         piece.set_offset(offset);
                         ASSIGN_OR_RETURN(
                             v1::GetFileResponse response,
                             repeated([&] { return client_.GetFile(piece); }));
                         return std::move(*response.mutable_content());
                       });
}

void JobCourier::CarryOutputs() {
  absl::Time next_look = MonotonicNow() + kOutputInterval;
  absl::Status last;
  std::vector<HeldTask> tried;
  while (!IsStopping()) {
    const std::vector<HeldTask> ended = WithoutOutputs();
    // An end does not wait for the next look, unless there was no room for its
    // outputs.
    const bool has_no_room = ended == tried && absl::IsResourceExhausted(last);
    const bool is_urgent = !ended.empty() && (!has_no_room || IsHurrying());
    if (!is_urgent && MonotonicNow() < next_look) {
      Pause(kShipInterval);
      continue;
    }
    const absl::Status status =
        ended.empty() ? outputs_.ShipCheckpoints() : outputs_.ShipAll();
    const bool is_full = absl::IsResourceExhausted(status);
    next_look = MonotonicNow() + (is_full ? kFullInterval : kOutputInterval);
    LOG_IF(WARNING, !status.ok() && (ended != tried || IsNews(status, last)))
        << first_.job << ": outputs"
        << (is_full && !ended.empty() ? " of an ended task wait here" : "")
        << ": " << status.message();
    last = status;
    tried = ended;
    OutputsTried(ended, status);
    if (!status.ok()) Pause(kRetryInterval);
  }
}

void JobCourier::OutputsTried(const std::vector<HeldTask>& ended,
                              const absl::Status& status) {
  MutexLock lock(mutex_);
  for (const HeldTask& task : ended) {
    Task& state = tasks_.at(task);
    const bool is_given_up = !status.ok() && GivesUp(status, state);
    LOG_IF(WARNING, is_given_up) << task.ToString() << ": outputs are given up";
    if (is_given_up) state.lost_outputs = std::string(status.message());
    state.are_outputs_shipped = status.ok() || is_given_up;
  }
}

void JobCourier::CarryLogs() {
  while (!IsStopping()) {
    std::vector<std::pair<Task*, bool>> open;
    {
      MutexLock lock(mutex_);
      for (auto& [name, task] : tasks_) {
        if (!task.is_log_shipped && task.next_log <= MonotonicNow()) {
          if (std::exchange(task.sends_progress_again, false)) {
            task.log.SendProgressAgain();
          }
          open.emplace_back(&task, task.has_ended);
        }
      }
    }
    bool more = false;
    for (const auto& [task, has_ended] : open) {
      const absl::StatusOr<bool> has_more = ShipLog(task->log);
      MutexLock lock(mutex_);
      if (has_more.ok()) {
        more = more || *has_more;
        task->is_log_shipped = has_ended && !*has_more;
        task->log_error = absl::OkStatus();
      } else {
        LogFailed(has_more.status(), *task);
      }
    }
    if (!more) Pause(kShipInterval);
  }
  MutexLock lock(mutex_);
  --running_threads_;
}

void JobCourier::LogFailed(const absl::Status& error, Task& task) {
  task.next_log = MonotonicNow() + kRetryInterval;
  const absl::Status last = std::exchange(task.log_error, error);
  if (GivesUp(error, task)) {
    LOG(WARNING) << first_.job
                 << ": the rest of a log is given up: " << error.message();
    task.is_log_shipped = true;
  } else if (absl::IsResourceExhausted(error) && IsNews(error, last)) {
    LOG(WARNING) << first_.job << ": a log waits here: " << error.message();
  }
}

absl::StatusOr<bool> JobCourier::ShipLog(LogShipper& log) {
  for (int piece = 0; piece < kPiecesAtOnce; ++piece) {
    ASSIGN_OR_RETURN(const bool had_piece, log.Ship());
    if (!had_piece) return false;
  }
  return true;
}

}  // namespace paceline
