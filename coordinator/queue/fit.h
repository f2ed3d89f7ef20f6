// Finds room for all tasks of a job, or for none.
//
// Tasks of a group are alike, and groups of different types use different
// daemons, so counting how many tasks fit on each daemon decides exactly
// whether a group fits. Only the task beside which the leader runs is larger.
// It goes where it takes the fewest places from the others. Then a group goes
// to as few daemons as possible, since tasks on one machine talk through shared
// memory: first to those with the most places, and the rest to the daemon with
// the fewest that suffice.
//
// Takes time in O(d log d) for d daemons.
#ifndef PACELINE_COORDINATOR_QUEUE_FIT_H_
#define PACELINE_COORDINATOR_QUEUE_FIT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/cluster/task.h"
#include "coordinator/queue/daemon.h"
#include "coordinator/queue/demand.h"
#include "coordinator/queue/resources.h"

namespace paceline {

// What a job may use of a daemon.
struct Room {
  const Daemon* daemon;
  Resources free;
};

// Tasks, and the names of their daemons. The leader is among them.
using Assignment = std::vector<std::pair<TaskId, std::string>>;

// nullopt: there is no room for all tasks at once. `rooms` has each daemon once
// at most.
std::optional<Assignment> Fit(const Demand& demand, std::vector<Room> rooms);

// Says for each group for which there is no room how much is missing:
// "4 workers of 8 cores, 16 GiB each: room for 2 on 3 daemons". "" if all fit.
std::string WhatIsMissing(const Demand& demand, std::vector<Room> rooms);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_QUEUE_FIT_H_
