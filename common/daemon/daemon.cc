#include "common/daemon/daemon.h"

#include <glog/logging.h>
#include <signal.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/cluster/task_proto.h"
#include "common/daemon/coordinator_contact.h"
#include "common/daemon/daemon_folder.h"
#include "common/daemon/sync_line.h"
#include "common/daemon/task_book.h"
#include "common/daemon/task_processes.h"
#include "common/identity/caller.h"
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
// From the signal to the end, at least, if the coordinator is away and all
// tasks have departed.
constexpr absl::Duration kLeavingTimeAlone = absl::Seconds(3);

v1::SyncRequest TraitsOf(const DaemonOptions& options, uint64_t incarnation,
                         const DaemonFolder& folder) {
  v1::SyncRequest traits;
  traits.set_daemon(options.name);
  traits.set_incarnation(incarnation);
  traits.set_home(folder.home());
  traits.set_predecessor_left(folder.predecessor_left());
  traits.set_type(TaskToProto({options.place.type, 0}).type());
  traits.set_version(options.place.version);
  *traits.mutable_total() = options.total;
  traits.mutable_labels()->insert(options.labels.begin(), options.labels.end());
  return traits;
}

class Daemon {
 public:
  Daemon(const DaemonOptions& options, uint64_t incarnation,
         DaemonFolder& folder)
      : folder_(folder),
        client_(
            options.place.coordinator,
            std::make_shared<Caller>(TaskToProto({options.place.type, 0}),
                                     incarnation, options.secret, options.tls)),
        contact_(client_.description()),
        book_(TraitsOf(options, incarnation, folder)),
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
    if (actions->is_new_coordinator) {
      processes_.CoordinatorChanged();
    } else if (!leave_by_.has_value()) {
      folder_.SetHeard();
    }
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
    leave_alone_by_ = MonotonicNow() + kLeavingTimeAlone;
    EndTasks(book_.Leave(MonotonicNow()));
    processes_.Leave();
  }

  // Whether there is nothing left to wait for. A coordinator that is away
  // learns of departures from the next daemon in this folder; of other ends
  // only from this one.
  bool HasLeft() {
    const absl::Time now = MonotonicNow();
    const bool have_departed =
        processes_.HaveDeparted() && book_.HaveDeparted();
    if (have_departed) folder_.SetLeft();
    const bool is_alone =
        contact_.is_away() &&
        (book_.is_empty() || (have_departed && now > leave_alone_by_));
    return book_.HasToldAllEnds() || is_alone || now > *leave_by_;
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

  DaemonFolder& folder_;
  ServiceClient client_;
  CoordinatorContact contact_;
  TaskBook book_;
  std::optional<absl::Time> leave_by_;
  absl::Time leave_alone_by_;
  uint64_t last_sent_ = 0;
  absl::Time next_message_ = absl::InfinitePast();
  TaskProcesses processes_;
  // Destroyed first: ends the calls for which the others wait.
  SyncLine line_;
};

}  // namespace

absl::Status RunDaemon(const DaemonOptions& options,
                       const std::function<bool()>& is_signalled) {
  absl::StatusOr<DaemonFolder> folder =
      DaemonFolder::Enter(options.work_folder, is_signalled);
  if (absl::IsCancelled(folder.status())) return absl::OkStatus();
  RETURN_IF_ERROR(folder.status());
  // Of two processes with a name the later one has the larger number.
  const auto incarnation =
      static_cast<uint64_t>(absl::ToUnixMicros(absl::Now()));
  LOG(INFO) << options.name << " is a daemon of the coordinator at "
            << options.place.coordinator << "; its folder is "
            << options.work_folder;
  return Daemon(options, incarnation, *folder).Run(is_signalled);
}

}  // namespace paceline
