// Workers that sum up gradients among themselves, as this one reaches them.
#ifndef PACELINE_WORKER_PEERS_H_
#define PACELINE_WORKER_PEERS_H_

#include "absl/status/statusor.h"
#include "paceline/v1/coordinator.pb.h"
#include "worker/collective/connect_group.h"

namespace paceline {

// How worker `rank`, which computes with `threads`, connects to the others that
// the leader named at the start. Without a region.
absl::StatusOr<GroupOptions> PeerOptions(const v1::AwaitStartResponse& start,
                                         int rank, int threads);

}  // namespace paceline

#endif  // PACELINE_WORKER_PEERS_H_
