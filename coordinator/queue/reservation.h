// The place that the queue keeps for the first job that has to wait, so that
// smaller jobs behind it do not delay it (EASY backfill: Lifka, "The ANL/IBM SP
// Scheduling System", 1995).
//
// The place is the one that is free the soonest, if each running job takes all
// of its time: then the job surely starts at `ready`. A job without a timeout
// may run for ever, so where the place needs the room of one, `ready` is
// infinite, and the job starts when the jobs that held the place have ended.
//
// Another job may start now if it leaves the place free at `ready`: it ends
// before, or it takes only room that is left beside the place.
#ifndef PACELINE_COORDINATOR_QUEUE_RESERVATION_H_
#define PACELINE_COORDINATOR_QUEUE_RESERVATION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/queue/daemon.h"
#include "coordinator/queue/demand.h"
#include "coordinator/queue/fit.h"
#include "coordinator/queue/resources.h"

namespace paceline {

// A job that holds room.
struct Holder {
  const Demand* demand = nullptr;
  // When it has ended at the latest; InfiniteFuture: nobody knows.
  absl::Time end;
  // Counts starts of jobs.
  uint64_t start = 0;
};

// The job with this number, which must hold room.
using HolderOf = std::function<Holder(uint64_t number)>;

struct Reservation {
  // The number of the job for which it is.
  uint64_t job = 0;
  absl::Time ready;
  // The last start of a job before the reservation was made.
  uint64_t made_after_start = 0;
  // By daemon.
  std::map<std::string, Resources> place;
};

// Reserves a place on those daemons for a job that does not fit now.
// `last_start` is the last start of a job. nullopt: it would not fit if all
// others had ended.
std::optional<Reservation> Reserve(uint64_t job, const Demand& demand,
                                   const std::vector<const Daemon*>& daemons,
                                   const HolderOf& holder_of,
                                   uint64_t last_start);

// Whether the job holds its room beyond `reservation.ready`, as far as one can
// know when it starts.
bool OutlastsReservation(const Holder& holder, const Reservation& reservation);

// Whether no job that outlasts the reservation is in its place on this daemon.
// A job that started ahead of the one with the reservation may be.
bool LeavesPlace(const Daemon& daemon, const Reservation& reservation,
                 const HolderOf& holder_of);

// What of the daemon a job may take that outlasts the reservation: what is free
// now, and not needed at `ready`.
Resources SpareOf(const Daemon& daemon, const Reservation& reservation,
                  const HolderOf& holder_of);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_QUEUE_RESERVATION_H_
