#include "coordinator/queue/reservation.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/cluster/task.h"

namespace paceline {
namespace {

// What is free once all jobs have ended that end by `time`.
std::vector<Room> RoomsAt(absl::Time time,
                          const std::vector<const Daemon*>& daemons,
                          const HolderOf& holder_of) {
  std::vector<Room> rooms;
  for (const Daemon* daemon : daemons) {
    Room room{daemon, daemon->Free()};
    for (const auto& [number, task] : daemon->tasks) {
      const Holder holder = holder_of(number);
      if (holder.end <= time) room.free += holder.demand->Of(task);
    }
    rooms.push_back(room);
  }
  return rooms;
}

// The times at which jobs end at the latest, in order.
std::vector<absl::Time> Ends(const std::vector<const Daemon*>& daemons,
                             const HolderOf& holder_of) {
  std::set<absl::Time> ends;
  for (const Daemon* daemon : daemons) {
    for (const auto& [number, task] : daemon->tasks) {
      ends.insert(holder_of(number).end);
    }
  }
  return {ends.begin(), ends.end()};
}

// What those leave of the daemon that outlast the reservation.
Resources LeftAtReady(const Daemon& daemon, const Reservation& reservation,
                      const HolderOf& holder_of) {
  Resources left = daemon.total;
  for (const auto& [number, task] : daemon.tasks) {
    const Holder holder = holder_of(number);
    if (OutlastsReservation(holder, reservation)) {
      left -= holder.demand->Of(task);
    }
  }
  return left;
}

}  // namespace

std::optional<Reservation> Reserve(uint64_t job, const Demand& demand,
                                   const std::vector<const Daemon*>& daemons,
                                   const HolderOf& holder_of,
                                   uint64_t last_start) {
  const std::vector<absl::Time> ends = Ends(daemons, holder_of);
  const auto fits_at = [&](absl::Time time) {
    return Fit(demand, RoomsAt(time, daemons, holder_of));
  };
  // The more jobs have ended, the more fits.
  const auto ready = std::partition_point(
      ends.begin(), ends.end(),
      [&](absl::Time time) { return !fits_at(time).has_value(); });
  if (ready == ends.end()) return std::nullopt;

  Reservation reservation;
  reservation.job = job;
  reservation.ready = *ready;
  reservation.made_after_start = last_start;
  const std::optional<Assignment> assignment = fits_at(*ready);
  for (const auto& [task, daemon] : *assignment) {
    reservation.place[daemon] += demand.Of(task);
  }
  return reservation;
}

bool OutlastsReservation(const Holder& holder, const Reservation& reservation) {
  if (reservation.ready == absl::InfiniteFuture()) {
    // The place waits for those that held it when it was reserved, and for
    // nobody else.
    return holder.start > reservation.made_after_start;
  }
  return holder.end > reservation.ready;
}

bool LeavesPlace(const Daemon& daemon, const Reservation& reservation,
                 const HolderOf& holder_of) {
  const auto place = reservation.place.find(daemon.name);
  return place == reservation.place.end() ||
         place->second.FitsInto(LeftAtReady(daemon, reservation, holder_of));
}

Resources SpareOf(const Daemon& daemon, const Reservation& reservation,
                  const HolderOf& holder_of) {
  const auto place = reservation.place.find(daemon.name);
  if (place == reservation.place.end()) return daemon.Free();
  return Min(daemon.Free(),
             LeftAtReady(daemon, reservation, holder_of) - place->second);
}

}  // namespace paceline
