// What a daemon holds, and what the coordinator of a service wants it to hold.
//
// A state machine: it says what to do with processes, and is told what became
// of them. The rules are those of docs/design/service.md.
#ifndef PACELINE_COMMON_DAEMON_TASK_BOOK_H_
#define PACELINE_COMMON_DAEMON_TASK_BOOK_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/exit_code.h"
#include "common/cluster/task.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

// A task of one start of a job.
struct HeldTask {
  std::string job;
  uint32_t generation = 0;
  // TaskType::kChief: the leader.
  TaskId task;

  // NOLINTNEXTLINE(modernize-use-nullptr): as in TaskId.
  auto operator<=>(const HeldTask&) const = default;

  bool is_leader() const { return task.type == TaskType::kChief; }
  // "leader", "worker-1": the name of its log file.
  std::string Name() const { return is_leader() ? "leader" : task.ToString(); }
  // "worker-1 of fashion-mnist-17", for people.
  std::string ToString() const;

  v1::JobTask ToProto() const;
  // InvalidArgument names the field.
  static absl::StatusOr<HeldTask> FromProto(const v1::JobTask& message);
};

// How a task has ended, as in v1::TaskReport.
struct TaskEnd {
  int exit_code = 0;
  std::string error = "";
  std::optional<v1::Usage> usage = std::nullopt;
  std::string lost_outputs = "";
};

// Whether a task with this exit code ended since it was asked to leave. Tasks
// that the leader ends as it leaves end well.
inline bool IsDeparture(const HeldTask& task, int exit_code) {
  return exit_code == kRestart || exit_code == kTerminated ||
         exit_code == kStopped || (exit_code == kSuccess && !task.is_leader());
}

// Time from SIGTERM to SIGKILL.
inline constexpr absl::Duration kTaskGrace = absl::Seconds(30);
// The same where the daemon leaves: longer than kLeaveTimeout, which a task
// gives itself.
inline constexpr absl::Duration kLeavingGrace = absl::Seconds(21);

// Not thread-safe.
class TaskBook {
 public:
  struct Actions {
    // Tasks to start.
    std::vector<v1::TaskOrder> start;
    // Leaders to ask once, by SIGINT, to end their jobs after a last
    // checkpoint.
    std::vector<HeldTask> stop;
    // Tasks to end by SIGTERM.
    std::vector<HeldTask> end;
    // Whether another process than before has answered.
    bool is_new_coordinator = false;
  };

  // `traits`: what each message says of the daemon.
  explicit TaskBook(v1::SyncRequest traits) : traits_(std::move(traits)) {}

  // The next message to the coordinator.
  v1::SyncRequest NextMessage();
  // Whether there is something that no message has said yet.
  bool has_news() const { return has_news_; }

  // Takes the answer to message `sequence`. An answer that comes after that to
  // a later message changes nothing; nor does an invalid one: InvalidArgument.
  // Tasks that are ordered while the daemon leaves are over at once.
  absl::StatusOr<Actions> TakeAnswer(uint64_t sequence,
                                     const v1::SyncResponse& response,
                                     absl::Time now);
  // Tasks to end by SIGKILL, each once: their grace is over.
  std::vector<HeldTask> TakeOverdue(absl::Time now);

  // The leader listens at `address`.
  void SetAddress(const HeldTask& task, const std::string& address);
  // The task has ended, or could not be started. Of long errors the middle is
  // left out.
  void SetOver(const HeldTask& task, const TaskEnd& end);

  // The daemon is going to end. Returns the tasks to end by SIGTERM.
  std::vector<HeldTask> Leave(absl::Time now);
  // Whether all tasks are over, and the coordinator knows.
  bool HasToldAllEnds() const;
  // Whether all that are over ended since they were asked to leave.
  bool HaveDeparted() const;
  bool is_empty() const { return held_.empty(); }

 private:
  struct Held {
    bool is_over = false;
    std::string address;
    TaskEnd end;
    // The first message that said that it is over; 0: none yet.
    uint64_t told_over = 0;
    bool was_asked_to_stop = false;
    bool is_ending = false;
    // When it is killed: infinite before it is ended, and after it was killed.
    absl::Time kill_at = absl::InfiniteFuture();
  };

  absl::StatusOr<HeldTask> CheckedTask(const v1::TaskOrder& order) const;
  void Follow(const std::map<HeldTask, const v1::TaskOrder*>& orders,
              absl::Time now, Actions& actions);
  std::vector<HeldTask> EndAllBut(
      const std::map<HeldTask, const v1::TaskOrder*>& orders,
      absl::Time kill_at);

  const v1::SyncRequest traits_;
  std::map<HeldTask, Held> held_;
  bool is_leaving_ = false;
  bool has_news_ = true;
  uint64_t last_sent_ = 0;
  // The first message that says all news.
  uint64_t newest_ = 0;
  uint64_t last_taken_ = 0;
  uint64_t coordinator_ = 0;
  // The first message that names coordinator_.
  uint64_t first_to_coordinator_ = 1;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_TASK_BOOK_H_
