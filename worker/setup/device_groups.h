// Groups of devices that sum gradients among themselves, without the host: NCCL
// groups of GPUs.
#ifndef PACELINE_WORKER_SETUP_DEVICE_GROUPS_H_
#define PACELINE_WORKER_SETUP_DEVICE_GROUPS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "paceline/v1/coordinator.pb.h"
#include "worker/setup/replica.h"

namespace paceline {

// The UUID of the replica's GPU if the GPU could join a group, for which it
// must also be able to update the variables; else "". Call it after
// MakeReplica.
std::string GroupableGpu(const Replica& replica);

// Joins a group of `world_size` devices with the devices of `replicas`, which
// get consecutive ranks from `first_rank`. `nccl_id` is NCCL's unique id.
// Blocks until all ranks have joined, for at most limits::kConnectTimeout.
absl::Status JoinGroup(const std::string& nccl_id, int first_rank,
                       int world_size,
                       absl::Span<const std::unique_ptr<Replica>> replicas);

// Forms a group of all replicas of the job, which are `replicas`, if their
// devices support that. Otherwise logs that the host sums gradients.
absl::Status JoinOwnGroup(absl::Span<const std::unique_ptr<Replica>> replicas);

// --- Workers with a replica each ---------------------------------------------

// Before the start: puts the replica's GroupableGpu into the request to
// the leader. If there is one, rank 0 also creates NCCL's unique id.
absl::Status OfferDevice(const Replica& replica, int rank,
                         v1::AwaitStartRequest& request);

// Forms a group of the devices of all workers, if each has offered one and they
// support that. Otherwise logs that the host sums gradients. All workers come
// to the same decision. `replicas` are those of this worker. Blocks like
// JoinGroup.
absl::Status JoinPeers(const v1::AwaitStartResponse& start, int rank,
                       absl::Span<const std::unique_ptr<Replica>> replicas);

// A group does not report which of its ranks was lost. The leader knows it from
// missing heartbeats, and then ends this process. So after an error of the
// group, a replica waits here for as long as the leader needs; otherwise it
// would report an error that blames no task. Returns at once if the group has
// no error.
void AwaitLeadersWord(const Replica& replica);

}  // namespace paceline

#endif  // PACELINE_WORKER_SETUP_DEVICE_GROUPS_H_
