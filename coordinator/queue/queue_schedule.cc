// Which jobs start, and in whose place.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "coordinator/queue/fit.h"
#include "coordinator/queue/queue_state.h"
#include "coordinator/queue/reservation.h"

namespace paceline {
namespace {

// Jobs behind the one with the reservation that one look for jobs to start
// considers: bounds its time.
constexpr int kMaxBackfill = 1'000;
// Between two looks: each task that ends is a reason for one, and one costs a
// sort of all daemons for each shape of jobs.
constexpr absl::Duration kLookInterval = absl::Milliseconds(50);

// The room that jobs of one kind may take in one look for jobs to start, and
// the shapes of jobs for which it does not suffice. Jobs that start only make
// it less.
class Rooms {
 public:
  explicit Rooms(std::vector<Room> rooms) : rooms_(std::move(rooms)) {}

  std::optional<Assignment> Find(absl::string_view shape,
                                 const Demand& demand) {
    if (too_large_.contains(shape)) return std::nullopt;
    std::optional<Assignment> found = Fit(demand, rooms_);
    if (!found) too_large_.insert(shape);
    return found;
  }

  // A job took this. `free_of` says what is left of a daemon.
  template <typename FreeOf>
  void Taken(const Assignment& assignment, const FreeOf& free_of) {
    for (const auto& [task, name] : assignment) {
      // Daemons are in the order of their names.
      const auto room =
          std::lower_bound(rooms_.begin(), rooms_.end(), name,
                           [](const Room& each, const std::string& other) {
                             return each.daemon->name < other;
                           });
      room->free = free_of(*room->daemon);
    }
  }

 private:
  std::vector<Room> rooms_;
  std::set<absl::string_view> too_large_;
};

template <typename FreeOf>
Rooms RoomsOf(const std::vector<const Daemon*>& daemons,
              const FreeOf& free_of) {
  std::vector<Room> rooms;
  for (const Daemon* daemon : daemons) {
    rooms.push_back({daemon, free_of(*daemon)});
  }
  return Rooms(std::move(rooms));
}

// Whether the job could start at the time, and in the place, of the
// reservation.
bool Holds(const Reservation& reservation,
           const std::vector<const Daemon*>& daemons,
           const HolderOf& holder_of) {
  size_t found = 0;
  for (const Daemon* daemon : daemons) {
    if (!reservation.place.contains(daemon->name)) continue;
    if (!LeavesPlace(*daemon, reservation, holder_of)) return false;
    ++found;
  }
  return found == reservation.place.size();
}

}  // namespace

std::vector<const Daemon*> JobQueue::State::OpenDaemons() const {
  std::vector<const Daemon*> open;
  for (const auto& [name, daemon] : daemons) {
    if (daemon.sequence != 0 && !daemon.is_drained && !daemon.is_leaving &&
        !daemon.is_silent && !daemon.is_lost && daemon.strays.empty() &&
        daemon.version == options.version) {
      open.push_back(&daemon);
    }
  }
  return open;
}

bool JobQueue::State::HasDaemonsOfEachType(const Demand& demand) const {
  return std::all_of(
      demand.groups.begin(), demand.groups.end(),
      [this](const GroupDemand& group) {
        return std::any_of(
            daemons.begin(), daemons.end(),
            [&](const auto& each) { return each.second.type == group.type; });
      });
}

std::vector<Room> JobQueue::State::AllRooms() const {
  std::vector<Room> rooms;
  for (const auto& [name, daemon] : daemons) {
    if (!daemon.is_drained) rooms.push_back({&daemon, daemon.total});
  }
  return rooms;
}

Holder JobQueue::State::HolderOfJob(uint64_t number, absl::Time now) const {
  const Job& job = jobs.at(number);
  return {&job.demand, EndOf(job, now), job.start};
}

const Quota* JobQueue::State::QuotaOf(const std::string& user) const {
  auto quota = options.quotas.find(user);
  if (quota == options.quotas.end()) quota = options.quotas.find(kOtherUsers);
  return quota == options.quotas.end() ? nullptr : &quota->second;
}

JobQueue::State::Usage JobQueue::State::UsageOf(const std::string& user) const {
  const auto used = usage.find(user);
  return used == usage.end() ? Usage() : used->second;
}

bool JobQueue::State::ExceedsQuota(const std::string& user,
                                   const Resources& more) const {
  const Quota* const quota = QuotaOf(user);
  if (quota == nullptr) return false;
  const Usage used = UsageOf(user);
  return !quota->Allows(used.jobs + 1, used.resources + more);
}

std::string JobQueue::State::DaemonWithStray(const std::string& id) const {
  for (const auto& [name, daemon] : daemons) {
    if (daemon.strays.contains(id)) return name;
  }
  return "";
}

bool JobQueue::State::MayStart(const Job& job,
                               const std::set<std::string>& held_up,
                               absl::Time now) {
  const absl::Time not_before =
      absl::FromUnixMicros(job.record.not_before_micros());
  if (now < not_before) {
    next_start = std::min(next_start, not_before);
    return false;
  }
  return !held_up.contains(job.record.id()) &&
         !ExceedsQuota(job.record.submission().user(), job.demand.Total());
}

std::optional<Reservation> JobQueue::State::ReserveFor(
    const Job& job, const std::vector<const Daemon*>& open,
    const HolderOf& holder_of) const {
  if (reservation && reservation->job == job.number() &&
      Holds(*reservation, open, holder_of)) {
    return reservation;
  }
  return Reserve(job.number(), job.demand, open, holder_of, last_start);
}

bool JobQueue::State::IsSettled(absl::Time now) const {
  if (now >= settles_at) return true;
  return std::all_of(daemons.begin(), daemons.end(), [](const auto& daemon) {
    return daemon.second.sequence != 0 || daemon.second.is_drained;
  });
}

void JobQueue::State::StartJobs(absl::Time now) {
  if (!should_schedule && now < next_start) return;
  if (now < last_look + kLookInterval || !IsSettled(now)) return;
  last_look = now;
  next_start = absl::InfiniteFuture();
  // Each daemon that registers is a reason to look; there may be thousands.
  if (queued.empty()) {
    reservation.reset();
    should_schedule = false;
    return;
  }

  const HolderOf holder_of = [&](uint64_t number) {
    return HolderOfJob(number, now);
  };
  std::optional<Reservation> kept;
  const auto free = [](const Daemon& daemon) { return daemon.Free(); };
  const auto spare = [&](const Daemon& daemon) {
    return SpareOf(daemon, *kept, holder_of);
  };
  const std::vector<const Daemon*> open = OpenDaemons();
  Rooms rooms = RoomsOf(open, free);
  Rooms empty =
      RoomsOf(open, [](const Daemon& daemon) { return daemon.total; });
  // For jobs that outlast the reservation.
  std::optional<Rooms> rooms_beside;
  std::set<std::string> held_up;
  for (const auto& [name, daemon] : daemons) {
    held_up.insert(daemon.strays.begin(), daemon.strays.end());
  }

  int behind = 0;
  for (auto next = queued.begin(); next != queued.end();) {
    Job& job = jobs.at((next++)->second);
    if (!MayStart(job, held_up, now)) continue;
    if (kept && ++behind > kMaxBackfill) break;
    const Holder holder = {&job.demand, EndOf(job, now), last_start + 1};
    const bool outlasts = kept && OutlastsReservation(holder, *kept);
    const std::optional<Assignment> assignment =
        (outlasts ? *rooms_beside : rooms).Find(job.shape, job.demand);
    if (assignment) {
      Start(job, *assignment, now);
      rooms.Taken(*assignment, free);
      if (kept) rooms_beside->Taken(*assignment, spare);
    } else if (!kept && empty.Find(job.shape, job.demand)) {
      // The first that has to wait for others to end, not for other daemons.
      kept = ReserveFor(job, open, holder_of);
      if (kept) rooms_beside = RoomsOf(open, spare);
    }
  }
  reservation = std::move(kept);
  // The starts themselves are no reason to look again.
  should_schedule = false;
}

}  // namespace paceline
