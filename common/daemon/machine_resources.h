// What this machine has for tasks.
#ifndef PACELINE_COMMON_DAEMON_MACHINE_RESOURCES_H_
#define PACELINE_COMMON_DAEMON_MACHINE_RESOURCES_H_

#include <string>

#include "absl/status/statusor.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

// What this process may use: the cores of its affinity mask and the memory of
// the machine, both limited by its control group (version 2), and NVIDIA's
// GPUs. `root` is the folder that has proc and sys: "" for the machine's own.
// NotFound or DataLoss if /proc/meminfo does not tell the memory.
absl::StatusOr<v1::Resources> MachineResources(const std::string& root);

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_MACHINE_RESOURCES_H_
