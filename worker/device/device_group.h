// Groups of devices that sum gradients among themselves.
#ifndef PACELINE_WORKER_DEVICE_DEVICE_GROUP_H_
#define PACELINE_WORKER_DEVICE_DEVICE_GROUP_H_

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace paceline {

// How a device joins a group.
struct DeviceGroupOptions {
  // NCCL's unique id: the result of NewNcclId of one of the devices, the same
  // for all.
  std::string nccl_id;
  int rank = 0;
  int world_size = 1;
  // How long to wait until all ranks have joined.
  absl::Duration timeout;
};

// A device's membership in a group. Its programs sum gradients with the other
// devices in each step. Thread-safe.
class DeviceGroup {
 public:
  virtual ~DeviceGroup() = default;

  // Ends the waits of this device for the others, which will notice it.
  virtual void Abort(const absl::Status& reason) = 0;

  // OK while the group works. Otherwise the reason why it ended for this
  // device: Abort, or a lost rank. The sums are then invalid. Does not block.
  virtual absl::Status status() const = 0;
};

// Whether devices with these values of Device::gpu_uuid can form a group:
// each is set, and all are different. The order does not matter, so all ranks
// come to the same result.
inline bool CanBeGroup(absl::Span<const std::string> gpu_uuids) {
  const std::set<std::string> different(gpu_uuids.begin(), gpu_uuids.end());
  return different.size() == gpu_uuids.size() && !different.contains("");
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_DEVICE_GROUP_H_
