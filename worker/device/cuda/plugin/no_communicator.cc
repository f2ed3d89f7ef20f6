// Stands in for NCCL groups in a build without NCCL's header.
#include "worker/device/cuda/plugin/communicator.h"

namespace paceline::cuda {
namespace {

absl::Status NoNccl() {
  return absl::UnimplementedError("this build of the CUDA plug-in has no NCCL");
}

}  // namespace

absl::Status CheckGroups() { return NoNccl(); }

absl::StatusOr<std::string> NewNcclId() { return NoNccl(); }

absl::StatusOr<std::unique_ptr<Communicator>> JoinGroup(
    int /*ordinal*/, const DeviceGroupOptions& /*options*/) {
  return NoNccl();
}

}  // namespace paceline::cuda
