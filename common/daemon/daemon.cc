#include "common/daemon/daemon.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/errno_error.h"
#include "common/base/file.h"
#include "common/base/file_descriptor.h"
#include "common/base/status_macros.h"
#include "common/cluster/task_proto.h"
#include "common/daemon/coordinator_contact.h"
#include "common/daemon/sync_line.h"
#include "common/daemon/task_book.h"
#include "common/daemon/task_processes.h"
#include "common/identity/caller.h"
#include "common/rpc/incarnation.h"
#include "common/rpc/service_client.h"

namespace paceline {
namespace {

// Between two looks at processes and signals.
constexpr absl::Duration kLookInterval = absl::Milliseconds(50);
// While a task is being started.
constexpr absl::Duration kStartingLookInterval = absl::Milliseconds(5);
// Between two messages, however soon answers come.
constexpr absl::Duration kMessageInterval = absl::Milliseconds(20);
// Messages on their way: news do not wait for the answer to earlier ones.
constexpr int kMaxOpenMessages = 4;
// From the signal to the end.
constexpr absl::Duration kLeavingTime = absl::Seconds(25);

v1::SyncRequest TraitsOf(const DaemonOptions& options, uint64_t incarnation,
                         uint64_t home) {
  v1::SyncRequest traits;
  traits.set_daemon(options.name);
  traits.set_incarnation(incarnation);
  traits.set_home(home);
  traits.set_type(TaskToProto({options.place.type, 0}).type());
  traits.set_version(options.place.version);
  *traits.mutable_total() = options.total;
  traits.mutable_labels()->insert(options.labels.begin(), options.labels.end());
  return traits;
}

// Keeps a second daemon out of the folder while it is open.
absl::StatusOr<FileDescriptor> LockFolder(const std::string& folder) {
  RETURN_IF_ERROR(MakeDirectories(folder));
  const std::string path = folder + "/daemon.lock";
  FileDescriptor file(
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file.is_open()) return ErrnoError("cannot open", path);
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        folder,
        ": another daemon uses this folder; expected one of its own "
        "(--work)"));
  }
  return file;
}

// The number that tells this daemon from another one of its name; it is in the
// locked file.
absl::StatusOr<uint64_t> HomeOf(const FileDescriptor& lock,
                                const std::string& folder) {
  uint64_t home = 0;
  if (pread(lock.get(), &home, sizeof(home), 0) == sizeof(home) && home != 0) {
    return home;
  }
  home = DrawIncarnation();
  if (pwrite(lock.get(), &home, sizeof(home), 0) != sizeof(home)) {
    return ErrnoError("cannot write", folder + "/daemon.lock");
  }
  return home;
}

class Daemon {
 public:
  Daemon(const DaemonOptions& options, uint64_t incarnation, uint64_t home)
      : client_(
            options.place.coordinator,
            std::make_shared<Caller>(TaskToProto({options.place.type, 0}),
                                     incarnation, options.secret, options.tls)),
        contact_(client_.description()),
        book_(TraitsOf(options, incarnation, home)),
        processes_(options, client_),
        line_(client_) {}

  absl::Status Run(const std::function<bool()>& is_signalled) {
    while (true) {
      for (SyncLine::Answer& answer :
           line_.Take(processes_.is_starting() ? kStartingLookInterval
                                               : kLookInterval)) {
        RETURN_IF_ERROR(TakeAnswer(answer));
      }
      for (const HeldTask& task : book_.TakeOverdue(MonotonicNow())) {
        LOG(WARNING) << task.ToString() << " did not end in time; killing it";
        processes_.Signal(task, SIGKILL);
      }
      TellEvents();
      if (is_signalled()) {
        if (leave_by_.has_value()) return absl::OkStatus();
        Leave();
      }
      if (leave_by_.has_value() && HasLeft()) return absl::OkStatus();
      contact_.LogWaiting(MonotonicNow());
      SendIfDue();
    }
  }

 private:
  absl::Status TakeAnswer(const SyncLine::Answer& answer) {
    const absl::Time now = MonotonicNow();
    if (!answer.response.ok()) {
      const absl::Status& error = answer.response.status();
      if (absl::IsFailedPrecondition(error)) return error;
      // An older message was overtaken by a later one.
      if (answer.sequence == last_sent_ && !absl::IsAborted(error)) {
        contact_.Failed(error, now);
      }
      return absl::OkStatus();
    }
    const absl::StatusOr<TaskBook::Actions> actions =
        book_.TakeAnswer(answer.sequence, *answer.response, now);
    if (!actions.ok()) {
      contact_.Failed(actions.status(), now);
      return absl::OkStatus();
    }
    contact_.Succeeded();
    if (actions->is_new_coordinator) processes_.CoordinatorChanged();
    for (const v1::TaskOrder& order : actions->start) processes_.Start(order);
    for (const HeldTask& task : actions->stop) {
      LOG(INFO) << task.ToString() << " is asked to end its job";
      processes_.Signal(task, SIGINT);
    }
    EndTasks(actions->end);
    return absl::OkStatus();
  }

  void EndTasks(const std::vector<HeldTask>& tasks) {
    for (const HeldTask& task : tasks) {
      LOG(INFO) << "ending " << task.ToString();
      processes_.Signal(task, SIGTERM);
    }
  }

  void TellEvents() {
    for (const TaskProcesses::Event& event : processes_.Poll()) {
      if (event.address.empty()) {
        book_.SetOver(event.task, event.end);
      } else {
        LOG(INFO) << event.task.ToString() << " listens at " << event.address;
        book_.SetAddress(event.task, event.address);
      }
    }
  }

  void Leave() {
    LOG(WARNING) << "a signal ends this daemon and its tasks; they have "
                 << kLeavingTime << ", and a second signal ends it at once";
    leave_by_ = MonotonicNow() + kLeavingTime;
    EndTasks(book_.Leave(MonotonicNow()));
    processes_.Leave();
  }

  bool HasLeft() const {
    return book_.HasToldAllEnds() || (book_.is_empty() && contact_.is_away()) ||
           MonotonicNow() > *leave_by_;
  }

  void SendIfDue() {
    const int open = line_.open();
    if (open > 0 && (!book_.has_news() || open >= kMaxOpenMessages)) return;
    const absl::Time now = MonotonicNow();
    if (now < next_message_ || !contact_.MayTry(now)) return;
    next_message_ = now + kMessageInterval;
    const v1::SyncRequest message = book_.NextMessage();
    last_sent_ = message.sequence();
    line_.Send(message);
  }

  ServiceClient client_;
  CoordinatorContact contact_;
  TaskBook book_;
  std::optional<absl::Time> leave_by_;
  uint64_t last_sent_ = 0;
  absl::Time next_message_ = absl::InfinitePast();
  TaskProcesses processes_;
  // Destroyed first: ends the calls for which the others wait.
  SyncLine line_;
};

}  // namespace

absl::Status RunDaemon(const DaemonOptions& options,
                       const std::function<bool()>& is_signalled) {
  ASSIGN_OR_RETURN(const FileDescriptor lock, LockFolder(options.work_folder));
  ASSIGN_OR_RETURN(const uint64_t home, HomeOf(lock, options.work_folder));
  // Of two processes with a name the later one has the larger number.
  const auto incarnation =
      static_cast<uint64_t>(absl::ToUnixMicros(absl::Now()));
  LOG(INFO) << options.name << " is a daemon of the coordinator at "
            << options.place.coordinator << "; its folder is "
            << options.work_folder;
  return Daemon(options, incarnation, home).Run(is_signalled);
}

}  // namespace paceline
