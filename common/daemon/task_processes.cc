#include "common/daemon/task_processes.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/exit_code.h"
#include "common/base/file.h"
#include "common/base/read_fence.h"
#include "common/base/status_macros.h"
#include "common/cluster/address.h"
#include "common/daemon/last_error.h"
#include "common/daemon/local_host.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// A port and a newline have 6 bytes.
constexpr int64_t kMaxPortBytes = 32;
// Between two looks for jobs that have no task here.
constexpr absl::Duration kTidyInterval = absl::Minutes(1);

TaskProcesses::Event NotStarted(const HeldTask& task, const absl::Status& why) {
  LOG(ERROR) << task.ToString() << " cannot be started: " << why.message();
  return {task, "", {kUnknownExitCode, std::string(why.message())}};
}

// The processors for tasks. A machine's ps and its workers begin at other ends.
// None if the daemon has a part of the machine's cores only: other daemons,
// which have the rest, would take the same ones.
std::vector<int> CoresFor(const DaemonOptions& options) {
  std::vector<int> cores = OwnCores();
  if (options.total.millicores() < 1000 * cores.size()) return {};
  if (options.place.type == TaskType::kPs) {
    std::reverse(cores.begin(), cores.end());
  }
  return cores;
}

std::optional<v1::Usage> UsageProto(const std::optional<ChildUsage>& usage) {
  if (!usage.has_value()) return std::nullopt;
  v1::Usage message;
  message.set_cpu_micros(usage->cpu_micros);
  message.set_peak_memory_bytes(usage->peak_memory_bytes);
  return message;
}

}  // namespace

TaskProcesses::TaskProcesses(const DaemonOptions& options,
                             ServiceClient& client)
    : options_(options),
      client_(client),
      limits_(/*root=*/"", CoresFor(options)),
      idle_jobs_(options.work_folder + "/jobs", MonotonicNow()),
      next_tidying_(MonotonicNow()) {
  LOG(INFO) << "tasks are limited " << limits_.means();
  const absl::Status fence = ReadFence::Support();
  LOG(INFO) << "a job's paths are checked before its tasks open them, "
            << (fence.ok() ? "and by the kernel (Landlock) when they do"
                           : absl::StrCat("and not again when they do: no "
                                          "Landlock, as ",
                                          fence.message()));
}

void TaskProcesses::Start(const v1::TaskOrder& order) {
  // The task book has checked it.
  const absl::StatusOr<HeldTask> task = HeldTask::FromProto(order.task());
  CHECK(task.ok()) << task.status();
  Process& process = processes_[*task];
  process.order = order;
  absl::StatusOr<TaskPaths> paths = TaskPaths::Of(options_.work_folder, *task);
  if (paths.ok()) {
    process.paths = *std::move(paths);
  } else {
    process.over = NotStarted(*task, paths.status());
  }
}

void TaskProcesses::Signal(const HeldTask& task, int signal) {
  const auto found = processes_.find(task);
  if (found == processes_.end()) return;
  Process& process = found->second;
  if (process.child.has_value()) {
    process.child->Kill(signal);
  } else if (!process.over.has_value()) {
    process.over = {task,
                    "",
                    {signal == SIGINT ? kStopped : kRestart,
                     "it was ended before it was started"}};
  }
}

void TaskProcesses::CoordinatorChanged() {
  for (const auto& [start, courier] : couriers_) courier->CoordinatorChanged();
}

void TaskProcesses::Leave() {
  for (const auto& [start, courier] : couriers_) courier->Hurry();
}

std::vector<TaskProcesses::Event> TaskProcesses::Poll() {
  std::vector<Event> events;
  for (auto next = processes_.begin(); next != processes_.end();) {
    const auto current = next++;
    std::optional<Event> event = Advance(current->first, current->second);
    if (!event.has_value()) continue;
    const bool is_over = event->address.empty();
    events.push_back(*std::move(event));
    if (is_over) processes_.erase(current);
  }
  DismissCouriers();
  TidyJobs();
  return events;
}

bool TaskProcesses::HaveDeparted() const {
  return std::all_of(processes_.begin(), processes_.end(),
                     [](const auto& each) {
                       const auto& [task, process] = each;
                       return !process.child.has_value() ||
                              (process.exit_code.has_value() &&
                               IsDeparture(task, *process.exit_code));
                     });
}

bool TaskProcesses::is_starting() const {
  return std::any_of(
      processes_.begin(), processes_.end(), [](const auto& each) {
        const auto& [task, process] = each;
        const bool awaits_port = task.is_leader() && !process.listens;
        return !process.exit_code.has_value() &&
               (!process.child.has_value() || awaits_port);
      });
}

std::optional<TaskProcesses::Event> TaskProcesses::Advance(const HeldTask& task,
                                                           Process& process) {
  if (process.over.has_value()) return process.over;
  if (!process.child.has_value()) return Prepare(task, process);
  if (!process.exit_code.has_value()) {
    process.exit_code = process.child->Poll();
    if (!process.exit_code.has_value()) return LookForPort(task, process);
    TakeEnd(task, process);
  }
  if (!process.courier->HasShipped(task)) return std::nullopt;
  return Event{
      task,
      "",
      {*process.exit_code, process.error, UsageProto(process.child->usage()),
       process.courier->LostOutputs(task)}};
}

void TaskProcesses::TakeEnd(const HeldTask& task, Process& process) {
  // The kernel may have killed another process of a task that went well.
  if (*process.exit_code != kSuccess) process.error = process.limit->WhyEnded();
  if (*process.exit_code != kSuccess && process.error.empty()) {
    process.error = LastErrorIn(process.paths.log);
  }
  LOG(INFO) << task.ToString() << " has ended with exit code "
            << *process.exit_code << (process.error.empty() ? "" : ": ")
            << process.error;
  process.limit.reset();
  process.gpus.clear();
  process.courier->TaskEnded(task);
}

std::optional<TaskProcesses::Event> TaskProcesses::Prepare(const HeldTask& task,
                                                           Process& process) {
  if (process.courier == nullptr) {
    process.courier = CourierOf(task, process.paths);
    if (process.courier == nullptr) return std::nullopt;
  }
  const std::optional<absl::Status> fetched = process.courier->fetched();
  if (!fetched.has_value()) return std::nullopt;
  const absl::Status status = fetched->ok() ? Spawn(task, process) : *fetched;
  if (!status.ok()) return NotStarted(task, status);
  LOG(INFO) << task.ToString() << " runs as process " << process.child->pid();
  process.courier->TaskStarted(task, process.paths.log, process.paths.progress);
  return std::nullopt;
}

absl::Status TaskProcesses::Spawn(const HeldTask& task, Process& process) {
  ASSIGN_OR_RETURN(process.gpus, FreeGpus(process.order.resources().gpus()));
  ASSIGN_OR_RETURN(const std::string host, Host());
  ASSIGN_OR_RETURN(
      ChildOptions child,
      CommandFor(process.order, task, process.paths, options_, host,
                 {process.gpus.begin(), process.gpus.end()}));
  RETURN_IF_ERROR(MakeDirectories(process.paths.log_folder));
  // Of a process of this daemon that ran before.
  unlink(process.paths.port.c_str());
  ASSIGN_OR_RETURN(process.limit,
                   limits_.Add(process.order.resources(), task.is_leader()));
  child.limits = process.limit->child();
  ASSIGN_OR_RETURN(process.child, Child::Spawn(child));
  return absl::OkStatus();
}

std::optional<TaskProcesses::Event> TaskProcesses::LookForPort(
    const HeldTask& task, Process& process) {
  if (!task.is_leader() || process.listens) return std::nullopt;
  const absl::StatusOr<std::string> text =
      ReadFile(process.paths.port, kMaxPortBytes);
  int port = 0;
  if (!text.ok() ||
      !absl::SimpleAtoi(absl::StripAsciiWhitespace(*text), &port) || port < 1 ||
      port > 65535) {
    return std::nullopt;
  }
  process.listens = true;
  return Event{task, Address{host_, port, true}.ToString()};
}

std::shared_ptr<JobCourier> TaskProcesses::CourierOf(const HeldTask& task,
                                                     const TaskPaths& paths) {
  for (const auto& [start, courier] : couriers_) {
    if (start.first != task.job) continue;
    const bool is_ours =
        start.second == task.generation && !courier->IsStopping();
    return is_ours ? courier : nullptr;
  }
  auto courier = std::make_shared<JobCourier>(client_, paths.job_folder, task);
  couriers_[{task.job, task.generation}] = courier;
  return courier;
}

void TaskProcesses::DismissCouriers() {
  for (auto next = couriers_.begin(); next != couriers_.end();) {
    const auto current = next++;
    JobCourier& courier = *current->second;
    // A task that has yet to start holds it as well.
    if (current->second.use_count() == 1) courier.Stop();
    if (courier.HasStopped() && current->second.use_count() == 1) {
      couriers_.erase(current);
    }
  }
}

void TaskProcesses::TidyJobs() {
  if (MonotonicNow() < next_tidying_) return;
  next_tidying_ = MonotonicNow() + kTidyInterval;
  std::set<std::string> used;
  for (const auto& [task, process] : processes_) used.insert(task.job);
  for (const auto& [start, courier] : couriers_) used.insert(start.first);
  idle_jobs_.Tidy(used, MonotonicNow());
}

absl::StatusOr<std::string> TaskProcesses::Host() {
  if (host_.empty()) host_ = options_.advertised_host;
  if (host_.empty()) {
    ASSIGN_OR_RETURN(host_, LocalHostTowards(options_.place.coordinator));
  }
  return host_;
}

absl::StatusOr<std::set<int>> TaskProcesses::FreeGpus(uint64_t count) const {
  std::set<int> free;
  for (int gpu = 0; gpu < static_cast<int>(options_.total.gpus()); ++gpu) {
    free.insert(gpu);
  }
  for (const auto& [task, process] : processes_) {
    for (const int gpu : process.gpus) free.erase(gpu);
  }
  if (free.size() < count) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the task needs ", count, " GPUs, and ", free.size(), " of ",
        options_.total.gpus(), " are free on ", options_.name));
  }
  while (free.size() > count) free.erase(std::prev(free.end()));
  return free;
}

}  // namespace paceline
