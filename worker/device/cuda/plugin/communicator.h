// NCCL groups of GPUs, if NCCL is found at run time.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_COMMUNICATOR_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_COMMUNICATOR_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

// Loads NCCL. Unimplemented, here and below, says why it cannot be used.
absl::Status CheckGroups();

// See Gpu; for GPU `ordinal`.
absl::StatusOr<std::string> NewNcclId();
absl::StatusOr<std::unique_ptr<Communicator>> JoinGroup(
    int ordinal, const DeviceGroupOptions& options);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_COMMUNICATOR_H_
