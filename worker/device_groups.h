// Groups of the devices of replicas, which then sum gradients up without the
// host.
#ifndef PACELINE_WORKER_DEVICE_GROUPS_H_
#define PACELINE_WORKER_DEVICE_GROUPS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "paceline/v1/coordinator.pb.h"
#include "worker/replica.h"

namespace paceline {

// Device::gpu_uuid where the device could also update the variables, which goes
// with a group; else "". Of a replica that was made.
std::string GroupableGpu(const Replica& replica);

// The devices of `replicas` are the ranks from `first_rank` on of a group of
// `world_size`. Blocks until all ranks have come, limits::kConnectTimeout at
// most.
absl::Status JoinGroup(const std::string& nccl_id, int first_rank,
                       int world_size,
                       absl::Span<const std::unique_ptr<Replica>> replicas);

// A group of all `replicas`, which are those of the job, if their devices can
// be one; else none, and the log says that the host sums up.
absl::Status JoinOwnGroup(absl::Span<const std::unique_ptr<Replica>> replicas);

// --- Workers with a replica each ---------------------------------------------

// Tells the leader, before the start, of the replica's GroupableGpu; where
// there is one, rank 0 also sends NCCL's unique id of a new group.
absl::Status OfferDevice(const Replica& replica, int rank,
                         v1::AwaitStartRequest& request);

// A group of the devices of all workers, if all offered one and they can be a
// group; else none, and the log says that the host sums up. All workers find
// the same. `replicas` are those of this worker. Blocks as JoinGroup.
absl::Status JoinPeers(const v1::AwaitStartResponse& start, int rank,
                       absl::Span<const std::unique_ptr<Replica>> replicas);

// A group does not know which of its ranks was lost; the leader does, by their
// heartbeats, and then ends this process. So a replica that has lost its group
// waits here until the leader must have done so. Does not wait else.
void AwaitLeadersWord(const Replica& replica);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_GROUPS_H_
