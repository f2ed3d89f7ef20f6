#include "common/daemon/task_book.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/exit_code.h"
#include "common/base/peer_error_text.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/cluster/task_proto.h"

namespace paceline {

std::string HeldTask::ToString() const {
  return absl::StrCat(Name(), " of ", PeerText(job));
}

v1::JobTask HeldTask::ToProto() const {
  v1::JobTask message;
  message.set_job(job);
  message.set_generation(generation);
  *message.mutable_task() = TaskToProto(task);
  return message;
}

absl::StatusOr<HeldTask> HeldTask::FromProto(const v1::JobTask& message) {
  ASSIGN_OR_RETURN(const TaskId task, TaskFromProto(message.task()));
  return HeldTask{message.job(), message.generation(), task};
}

v1::SyncRequest TaskBook::NextMessage() {
  v1::SyncRequest message = traits_;
  message.set_sequence(++last_sent_);
  message.set_coordinator(coordinator_);
  message.set_last_answer(last_taken_);
  message.set_is_leaving(is_leaving_);
  for (auto& [task, held] : held_) {
    if (held.is_over && held.told_over == 0) held.told_over = last_sent_;
    v1::TaskReport& report = *message.add_tasks();
    *report.mutable_task() = task.ToProto();
    report.set_state(held.is_over ? v1::TASK_STATE_OVER
                                  : v1::TASK_STATE_RUNNING);
    report.set_address(held.address);
    report.set_exit_code(held.end.exit_code);
    report.set_error(held.end.error);
    report.set_lost_outputs(held.end.lost_outputs);
    if (held.end.usage.has_value()) *report.mutable_usage() = *held.end.usage;
  }
  if (std::exchange(has_news_, false)) newest_ = last_sent_;
  return message;
}

absl::StatusOr<TaskBook::Actions> TaskBook::TakeAnswer(
    uint64_t sequence, const v1::SyncResponse& response, absl::Time now) {
  Actions actions;
  if (sequence <= last_taken_) return actions;
  if (response.coordinator() != coordinator_) {
    last_taken_ = sequence;
    coordinator_ = response.coordinator();
    first_to_coordinator_ = last_sent_ + 1;
    has_news_ = true;
    actions.is_new_coordinator = true;
    return actions;
  }
  // The message was for an earlier coordinator, so the answer orders nothing.
  if (sequence < first_to_coordinator_) return actions;
  std::map<HeldTask, const v1::TaskOrder*> orders;
  for (const v1::TaskOrder& order : response.orders()) {
    ASSIGN_OR_RETURN(HeldTask task, CheckedTask(order));
    orders[std::move(task)] = &order;
  }
  last_taken_ = sequence;
  Follow(orders, now, actions);
  // The coordinator may forget a task only once it knows how that ended.
  for (auto next = held_.begin(); next != held_.end();) {
    const auto current = next++;
    const uint64_t told_over = current->second.told_over;
    const bool is_told = told_over != 0 && told_over <= sequence;
    if (is_told && !orders.contains(current->first)) held_.erase(current);
  }
  return actions;
}

// The task of an order that a daemon of this type can follow.
absl::StatusOr<HeldTask> TaskBook::CheckedTask(
    const v1::TaskOrder& order) const {
  ASSIGN_OR_RETURN(HeldTask task, HeldTask::FromProto(order.task()));
  const bool is_own = order.task().task().type() == traits_.type();
  if ((is_own && !order.leader_address().empty()) || task.is_leader()) {
    return task;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "orders: ", task.ToString(), ", leader at \"",
      PeerText(order.leader_address()), "\"; expected the leader, or a ",
      v1::TaskType_Name(traits_.type()), " with its leader's address"));
}

void TaskBook::Follow(const std::map<HeldTask, const v1::TaskOrder*>& orders,
                      absl::Time now, Actions& actions) {
  for (const auto& [task, order] : orders) {
    const auto [entry, is_new] = held_.try_emplace(task);
    Held& held = entry->second;
    if (is_new) {
      has_news_ = true;
      if (is_leaving_) {
        SetOver(task, {kRestart, "its daemon is leaving"});
      } else {
        actions.start.push_back(*order);
      }
    }
    if (order->should_stop() && !held.is_over &&
        !std::exchange(held.was_asked_to_stop, true)) {
      actions.stop.push_back(task);
    }
  }
  actions.end = EndAllBut(orders, now + kTaskGrace);
}

std::vector<HeldTask> TaskBook::EndAllBut(
    const std::map<HeldTask, const v1::TaskOrder*>& orders,
    absl::Time kill_at) {
  std::vector<HeldTask> ended;
  for (auto& [task, held] : held_) {
    if (held.is_over || orders.contains(task)) continue;
    if (std::exchange(held.is_ending, true)) continue;
    held.kill_at = kill_at;
    ended.push_back(task);
  }
  return ended;
}

std::vector<HeldTask> TaskBook::TakeOverdue(absl::Time now) {
  std::vector<HeldTask> overdue;
  for (auto& [task, held] : held_) {
    if (held.is_over || now < held.kill_at) continue;
    held.kill_at = absl::InfiniteFuture();
    overdue.push_back(task);
  }
  return overdue;
}

void TaskBook::SetAddress(const HeldTask& task, const std::string& address) {
  const auto found = held_.find(task);
  if (found == held_.end()) return;
  found->second.address = address;
  has_news_ = true;
}

void TaskBook::SetOver(const HeldTask& task, const TaskEnd& end) {
  const auto found = held_.find(task);
  if (found == held_.end()) return;
  Held& held = found->second;
  held.is_over = true;
  held.end = end;
  held.end.exit_code &= 0xff;
  held.end.error = PeerErrorText(end.error);
  held.end.lost_outputs = PeerText(end.lost_outputs);
  has_news_ = true;
}

std::vector<HeldTask> TaskBook::Leave(absl::Time now) {
  is_leaving_ = true;
  has_news_ = true;
  return EndAllBut({}, now + kLeavingGrace);
}

bool TaskBook::HaveDeparted() const {
  return std::all_of(held_.begin(), held_.end(), [](const auto& entry) {
    const auto& [task, held] = entry;
    return !held.is_over || IsDeparture(task, held.end.exit_code);
  });
}

bool TaskBook::HasToldAllEnds() const {
  return !has_news_ && last_taken_ >= newest_ &&
         std::all_of(held_.begin(), held_.end(),
                     [](const auto& entry) { return entry.second.is_over; });
}

}  // namespace paceline
