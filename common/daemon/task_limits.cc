#include "common/daemon/task_limits.h"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

// What a leader may use at least, however little of it is counted.
constexpr uint64_t kLeaderMillicores = 1000;

}  // namespace

TaskLimit::~TaskLimit() { limits_.Take(child_.cores, -millicores_of_each_); }

std::string TaskLimit::WhyEnded() const {
  return group_ == nullptr ? "" : group_->WhyKilled();
}

TaskLimits::TaskLimits(const std::string& root, const std::vector<int>& cores) {
  for (const int core : cores) cores_.push_back({core, 0});
  absl::StatusOr<std::unique_ptr<ControlGroupParent>> groups =
      ControlGroupParent::Create(root);
  if (groups.ok()) {
    groups_ = *std::move(groups);
    means_ = absl::StrCat("by control groups below ", groups_->folder());
  } else {
    means_ = absl::StrCat("by affinity and RLIMIT_DATA: no control groups, as ",
                          groups.status().message());
  }
}

absl::StatusOr<std::unique_ptr<TaskLimit>> TaskLimits::Add(
    const v1::Resources& limits, bool is_leader) {
  std::unique_ptr<TaskLimit> limit(new TaskLimit(*this));
  if (groups_ != nullptr) {
    v1::Resources of_group = limits;
    if (is_leader && limits.millicores() != 0) {
      of_group.set_millicores(std::max(kLeaderMillicores, limits.millicores()));
    }
    ASSIGN_OR_RETURN(limit->group_, groups_->Add(of_group));
    limit->child_.cgroup_procs = limit->group_->procs();
    return limit;
  }
  limit->child_.data_bytes = limits.memory_bytes();
  limit->child_.cores = LeastTaken((limits.millicores() + 999) / 1000);
  if (!limit->child_.cores.empty()) {
    limit->millicores_of_each_ = static_cast<int64_t>(std::min<uint64_t>(
        1000, limits.millicores() / limit->child_.cores.size()));
    Take(limit->child_.cores, limit->millicores_of_each_);
  }
  return limit;
}

void TaskLimits::Take(const std::vector<int>& cores, int64_t millicores) {
  for (Core& core : cores_) {
    const bool is_one =
        std::find(cores.begin(), cores.end(), core.number) != cores.end();
    if (is_one) core.taken += millicores;
  }
}

// None for 0: that is no limit.
std::vector<int> TaskLimits::LeastTaken(uint64_t count) const {
  std::vector<Core> order = cores_;
  std::stable_sort(
      order.begin(), order.end(),
      [](const Core& a, const Core& b) { return a.taken < b.taken; });
  order.resize(std::min<uint64_t>(order.size(), count));
  std::vector<int> numbers;
  for (const Core& core : order) numbers.push_back(core.number);
  return numbers;
}

std::vector<int> OwnCores() {
  cpu_set_t own;
  CPU_ZERO(&own);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(own), &own) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &own)) cores.push_back(core);
  }
  return cores;
}

}  // namespace paceline
