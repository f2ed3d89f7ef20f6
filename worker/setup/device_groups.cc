#include "worker/setup/device_groups.h"

#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Time within which the leader ends this process after it has noticed that
// another task is lost (after a heartbeat timeout).
constexpr absl::Duration kLeadersWord = absl::Seconds(1);

}  // namespace

std::string GroupableGpu(const Replica& replica) {
  // Replicas with synchronized statistics wait for each other in the middle of
  // a step, so they cannot be in a group of devices.
  const bool can_be_in_group =
      replica.statistics == nullptr && replica.device->CanUpdate();
  return can_be_in_group ? replica.device->gpu_uuid() : "";
}

absl::Status JoinGroup(const std::string& nccl_id, int first_rank,
                       int world_size,
                       absl::Span<const std::unique_ptr<Replica>> replicas) {
  std::vector<absl::Status> results(replicas.size());
  const auto join = [&](size_t i) {
    absl::StatusOr<std::unique_ptr<DeviceGroup>> group =
        replicas[i]->device->JoinGroup(
            {.nccl_id = nccl_id,
             .rank = first_rank + static_cast<int>(i),
             .world_size = world_size,
             .timeout = limits::kConnectTimeout});
    results[i] = group.status();
    if (group.ok()) replicas[i]->group = *std::move(group);
  };
  // One thread per replica, since joining a group blocks until all have joined.
  std::vector<std::thread> threads;
  for (size_t i = 1; i < replicas.size(); ++i) threads.emplace_back(join, i);
  join(0);
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& result : results) RETURN_IF_ERROR(result);
  LOG(INFO) << "gradients of " << world_size
            << " replicas are summed up from GPU to GPU";
  return absl::OkStatus();
}

absl::Status JoinOwnGroup(absl::Span<const std::unique_ptr<Replica>> replicas) {
  std::vector<std::string> uuids;
  for (const std::unique_ptr<Replica>& replica : replicas) {
    uuids.push_back(GroupableGpu(*replica));
  }
  if (!CanBeGroup(uuids)) {
    LOG_IF(INFO, !uuids.front().empty())
        << "gradients of " << uuids.size()
        << " replicas are summed up by the host: not each has a GPU of its own";
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::string nccl_id,
                   replicas.front()->device->NewNcclId());
  return JoinGroup(nccl_id, /*first_rank=*/0, static_cast<int>(replicas.size()),
                   replicas);
}

absl::Status OfferDevice(const Replica& replica, int rank,
                         v1::AwaitStartRequest& request) {
  request.set_gpu_uuid(GroupableGpu(replica));
  if (rank == 0 && !request.gpu_uuid().empty()) {
    ASSIGN_OR_RETURN(*request.mutable_nccl_id(), replica.device->NewNcclId());
  }
  return absl::OkStatus();
}

absl::Status JoinPeers(const v1::AwaitStartResponse& start, int rank,
                       absl::Span<const std::unique_ptr<Replica>> replicas) {
  const std::vector<std::string> uuids(start.gpu_uuids().begin(),
                                       start.gpu_uuids().end());
  if (!CanBeGroup(uuids)) {
    LOG(INFO) << "gradients are summed up by the host: not every worker has a "
                 "GPU of its own";
    return absl::OkStatus();
  }
  return JoinGroup(start.nccl_id(), rank, static_cast<int>(uuids.size()),
                   replicas);
}

void AwaitLeadersWord(const Replica& replica) {
  if (replica.group == nullptr || replica.group->status().ok()) return;
  absl::SleepFor(limits::kHeartbeatTimeout + kLeadersWord);
}

}  // namespace paceline
