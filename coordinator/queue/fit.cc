#include "coordinator/queue/fit.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// A daemon on which tasks of a group fit.
struct Slots {
  Room* room;
  int64_t count;
};

int64_t CountSlots(const GroupDemand& group, const Resources& free) {
  return CountThatFit(group.each, free, group.count);
}

// The daemons on which a group may run, also those that are full.
std::vector<Slots> SlotsFor(const GroupDemand& group,
                            std::vector<Room>& rooms) {
  std::vector<Slots> slots;
  for (Room& room : rooms) {
    if (room.daemon->type == group.type &&
        HasLabels(room.daemon->labels, group.labels)) {
      slots.push_back({&room, CountSlots(group, room.free)});
    }
  }
  return slots;
}

int64_t Total(const std::vector<Slots>& slots) {
  int64_t total = 0;
  for (const Slots& each : slots) total += each.count;
  return total;
}

// Takes a task of the group, with `extra`, out of the slots where that costs
// the fewest of them. Null: it fits nowhere.
Room* TakeFirst(const GroupDemand& group, const Resources& extra,
                std::vector<Slots>& slots) {
  const Resources need = group.each + extra;
  Slots* best = nullptr;
  int64_t best_left = 0;
  for (Slots& each : slots) {
    if (!need.FitsInto(each.room->free)) continue;
    const int64_t left = CountSlots(group, each.room->free - need);
    if (best == nullptr || each.count - left < best->count - best_left ||
        (each.count - left == best->count - best_left && left > best_left)) {
      best = &each;
      best_left = left;
    }
  }
  if (best == nullptr) return nullptr;
  best->room->free -= need;
  best->count = best_left;
  return best->room;
}

// Gives `tasks` tasks of the group, from index `first` on, to the slots, which
// must suffice.
void Assign(const GroupDemand& group, int first, std::vector<Slots> slots,
            Assignment& assignment) {
  std::stable_sort(
      slots.begin(), slots.end(),
      [](const Slots& a, const Slots& b) { return a.count > b.count; });
  auto next = slots.begin();
  for (int index = first; index < group.count;) {
    CHECK(next != slots.end());
    // Those before `end` could take all that is left.
    const int64_t left = group.count - index;
    const auto end = std::partition_point(
        next, slots.end(),
        [left](const Slots& each) { return each.count >= left; });
    const Slots& chosen = end == next ? *next++ : *(end - 1);
    const int64_t taken = std::min(left, chosen.count);
    chosen.room->free -= taken * group.each;
    for (int64_t i = 0; i < taken; ++i) {
      assignment.push_back({{group.type, index++}, chosen.room->daemon->name});
    }
  }
}

std::string Missing(const GroupDemand& group, const std::vector<Slots>& slots) {
  std::string labels =
      absl::StrJoin(group.labels, ",", absl::PairFormatter("="));
  if (!labels.empty()) labels = absl::StrCat(" labelled ", labels);
  return absl::StrCat(
      Counted(group.count,
              group.type == TaskType::kPs ? "parameter server" : "worker"),
      " of ", group.each.ToString(), " each: room for ",
      std::min<int64_t>(group.count, Total(slots)), " on ",
      Counted(slots.size(), "daemon"), labels);
}

}  // namespace

std::optional<Assignment> Fit(const Demand& demand, std::vector<Room> rooms) {
  Assignment assignment;
  for (const GroupDemand& group : demand.groups) {
    std::vector<Slots> slots = SlotsFor(group, rooms);
    if (Total(slots) < group.count) return std::nullopt;
    int placed = 0;
    if (assignment.empty()) {
      const Room* room = TakeFirst(group, demand.leader, slots);
      if (room == nullptr) return std::nullopt;
      assignment.push_back({kLeaderTask, room->daemon->name});
      assignment.push_back({{group.type, placed++}, room->daemon->name});
      if (Total(slots) < group.count - placed) return std::nullopt;
    }
    Assign(group, placed, std::move(slots), assignment);
  }
  return assignment;
}

std::string WhatIsMissing(const Demand& demand, std::vector<Room> rooms) {
  if (Fit(demand, rooms)) return "";
  std::vector<std::string> missing;
  for (const GroupDemand& group : demand.groups) {
    const std::vector<Slots> slots = SlotsFor(group, rooms);
    if (Total(slots) < group.count) missing.push_back(Missing(group, slots));
  }
  if (missing.empty()) {
    const GroupDemand& group = demand.groups.front();
    missing.push_back(absl::StrCat(
        "the leader, of ", demand.leader.ToString(), ", beside ",
        TaskId{group.type, 0}.ToString(), ": no room with the other tasks"));
  }
  return absl::StrJoin(missing, "; ");
}

}  // namespace paceline
