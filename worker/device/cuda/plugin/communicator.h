// Groups of GPUs by NCCL, or without it none.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_COMMUNICATOR_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_COMMUNICATOR_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

// Whether this build has NCCL.
bool HasGroups();

// As Gpu has them; of GPU `ordinal`. Unimplemented without NCCL.
absl::StatusOr<std::string> NewGroupId();
absl::StatusOr<std::unique_ptr<Communicator>> JoinGroup(
    int ordinal, const GroupPlace& place);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_COMMUNICATOR_H_
