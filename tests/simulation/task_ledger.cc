#include "tests/simulation/task_ledger.h"

#include "absl/strings/str_cat.h"
#include "coordinator/queue/demand.h"

namespace paceline {
namespace {

// Until a daemon has its orders, though two messages in a row are lost.
constexpr absl::Duration kOrderTime = absl::Seconds(15);

std::string NameOf(const RunningTask& task) {
  return absl::StrCat(task.job, " generation ", task.generation, " ",
                      task.task.ToString());
}

}  // namespace

void TaskLedger::Started(const RunningTask& task, const std::string& daemon,
                         const Resources& need, const Resources& total,
                         absl::Time now) {
  ++start_count_;
  if (task.task == kLeaderTask) CheckLeader(task, daemon, now);
  running_[task] = {daemon, need};
  used_[daemon] += need;
  if (!used_[daemon].FitsInto(total)) {
    Violation(absl::StrCat(daemon, " has ", total.ToString(), " and holds ",
                           used_[daemon].ToString()));
  }
}

void TaskLedger::CheckLeader(const RunningTask& leader,
                             const std::string& daemon, absl::Time now) {
  if (succeeded_.contains(leader.job)) {
    Violation(absl::StrCat(NameOf(leader), " started after it had succeeded"));
  }
  for (auto other = running_.lower_bound({leader.job, 0, {}});
       other != running_.end() && other->first.job == leader.job; ++other) {
    const std::string& where = other->second.first;
    // The order to start may have been under way when the daemon came back.
    const bool is_back =
        back_since_.contains(where) && now - back_since_[where] <= kOrderTime;
    if (now - heard_[where] <= daemon_timeout_ && !is_back) {
      Violation(absl::StrCat(NameOf(leader), " started on ", daemon, " while ",
                             NameOf(other->first), " ran on ", where));
    }
  }
}

void TaskLedger::Ended(const RunningTask& task, const std::string& daemon) {
  const auto found = running_.find(task);
  if (found == running_.end() || found->second.first != daemon) {
    Violation(absl::StrCat(NameOf(task), " did not run on ", daemon));
    return;
  }
  used_[daemon] -= found->second.second;
  running_.erase(found);
}

void TaskLedger::Heard(const std::string& daemon, absl::Time now) {
  if (heard_.contains(daemon) && now - heard_[daemon] > daemon_timeout_) {
    back_since_[daemon] = now;
  }
  heard_[daemon] = now;
}

int TaskLedger::CountRunning(const std::string& job,
                             uint32_t generation) const {
  int count = 0;
  for (auto task = running_.lower_bound({job, generation, {}});
       task != running_.end() && task->first.job == job &&
       task->first.generation == generation;
       ++task) {
    ++count;
  }
  return count;
}

}  // namespace paceline
