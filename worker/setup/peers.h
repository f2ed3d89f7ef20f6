// Connections to the other workers, for strategies in which workers sum
// gradients.
#ifndef PACELINE_WORKER_SETUP_PEERS_H_
#define PACELINE_WORKER_SETUP_PEERS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "paceline/v1/coordinator.pb.h"
#include "worker/collective/connect_group.h"

namespace paceline {

// How worker `rank`, which has `threads` compute threads, connects to the
// workers that the leader named at the start. Does not set `region`.
absl::StatusOr<GroupOptions> PeerOptions(const v1::AwaitStartResponse& start,
                                         int rank, int threads);

// If an error blames a rank of these workers, returns it with the Blame of that
// worker, so that the leader, which knows tasks and no ranks, can name it.
// `waited_for`: see Blame. Other errors are returned unchanged.
absl::Status BlamePeer(const v1::AwaitStartResponse& start,
                       absl::string_view waited_for, const absl::Status& error);

}  // namespace paceline

#endif  // PACELINE_WORKER_SETUP_PEERS_H_
