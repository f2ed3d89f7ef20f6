// Attaches to an error the rank that is to blame. A group of ranks knows no
// tasks; worker/setup/peers.h turns a rank into a Blame.
#ifndef PACELINE_WORKER_COLLECTIVE_BLAMED_RANK_H_
#define PACELINE_WORKER_COLLECTIVE_BLAMED_RANK_H_

#include "absl/status/status.h"

namespace paceline {

// The error with `rank` to blame; -1: nobody.
absl::Status WithBlamedRank(int rank, absl::Status error);

// The blamed rank; -1: none. May be outside the group, since a peer may have
// sent it.
int BlamedRank(const absl::Status& error);

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_BLAMED_RANK_H_
