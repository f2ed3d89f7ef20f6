// Which rank of a group is to blame for an error. A group knows no tasks:
// worker/peers.h makes a Blame of a rank.
#ifndef PACELINE_WORKER_COLLECTIVE_BLAMED_RANK_H_
#define PACELINE_WORKER_COLLECTIVE_BLAMED_RANK_H_

#include "absl/status/status.h"

namespace paceline {

// The error with this rank to blame for it; -1: with none.
absl::Status WithBlamedRank(int rank, absl::Status error);

// -1: none. A peer may have told of a rank that the group does not have.
int BlamedRank(const absl::Status& error);

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_BLAMED_RANK_H_
