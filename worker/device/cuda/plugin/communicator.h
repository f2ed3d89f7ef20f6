// Groups of GPUs by NCCL, where it is found as the program runs.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_COMMUNICATOR_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_COMMUNICATOR_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

// Unimplemented, as the following, says why there is no NCCL. Loads it.
absl::Status CheckGroups();

// As Gpu has them; of GPU `ordinal`.
absl::StatusOr<std::string> NewNcclId();
absl::StatusOr<std::unique_ptr<Communicator>> JoinGroup(
    int ordinal, const DeviceGroupOptions& options);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_COMMUNICATOR_H_
