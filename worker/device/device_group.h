// Devices that sum gradients up among themselves.
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
  // NCCL's unique id, which NewNcclId of one of the devices gave; the same for
  // all.
  std::string nccl_id;
  int rank = 0;
  int world_size = 1;
  // Until which all ranks must have come.
  absl::Duration timeout;
};

// A device's end of a group: its programs sum gradients up with the others',
// step by step. Thread-safe.
class DeviceGroup {
 public:
  virtual ~DeviceGroup() = default;

  // Ends this device's waits for the others; they notice.
  virtual void Abort(const absl::Status& reason) = 0;

  // OK while the group sums up; then why it ended, for this device: Abort, or a
  // rank that was lost. The sums are worth nothing from then on. Does not wait.
  virtual absl::Status status() const = 0;
};

// Whether devices with these Device::gpu_uuid can be a group: each of them can,
// and they are different GPUs. All who ask with the same UUIDs, in any order,
// get the same answer.
inline bool CanBeGroup(absl::Span<const std::string> gpu_uuids) {
  const std::set<std::string> different(gpu_uuids.begin(), gpu_uuids.end());
  return different.size() == gpu_uuids.size() && !different.contains("");
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_DEVICE_GROUP_H_
