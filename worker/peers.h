// Workers that sum up gradients among themselves, as this one reaches them.
#ifndef PACELINE_WORKER_PEERS_H_
#define PACELINE_WORKER_PEERS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "paceline/v1/coordinator.pb.h"
#include "worker/collective/connect_group.h"

namespace paceline {

// How worker `rank`, which computes with `threads`, connects to the others that
// the leader named at the start. Without a region.
absl::StatusOr<GroupOptions> PeerOptions(const v1::AwaitStartResponse& start,
                                         int rank, int threads);

// An error that blames a rank of these workers, with the Blame of that worker:
// for the leader, which knows tasks. `waited_for` as in Blame. Other errors
// stay as they are.
absl::Status BlamePeer(const v1::AwaitStartResponse& start,
                       absl::string_view waited_for, const absl::Status& error);

}  // namespace paceline

#endif  // PACELINE_WORKER_PEERS_H_
