#include "common/daemon/machine_resources.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/base/cores.h"
#include "common/base/status_macros.h"
#include "common/base/usable_memory.h"

namespace paceline {
namespace {

uint64_t Millicores(const std::string& root) {
  // UsableCores rounds fractions of a quota up.
  const uint64_t cores = uint64_t{1000} * static_cast<uint64_t>(UsableCores());
  std::ifstream cpu_max(root + "/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  // The file has "max 100000" if there is no limit.
  if (!(cpu_max >> quota >> period) || quota <= 0 || period <= 0) return cores;
  const auto limit = static_cast<uint64_t>(1000 * quota / period);
  return std::clamp<uint64_t>(limit, 1, cores);
}

uint64_t Gpus(const std::string& root) {
  std::error_code error;
  const std::filesystem::directory_iterator gpus(
      root + "/proc/driver/nvidia/gpus", error);
  return error ? 0 : static_cast<uint64_t>(std::distance(begin(gpus), {}));
}

}  // namespace

absl::StatusOr<v1::Resources> MachineResources(const std::string& root) {
  v1::Resources resources;
  resources.set_millicores(Millicores(root));
  ASSIGN_OR_RETURN(const uint64_t memory, UsableMemory(root));
  resources.set_memory_bytes(memory);
  resources.set_gpus(Gpus(root));
  return resources;
}

}  // namespace paceline
