#include "common/base/usable_memory.h"

#include <algorithm>
#include <fstream>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace paceline {

absl::StatusOr<uint64_t> UsableMemory(const std::string& root) {
  const std::string path = root + "/proc/meminfo";
  std::ifstream meminfo(path);
  if (!meminfo) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  std::string word;
  uint64_t kibibytes = 0;
  while (meminfo >> word && word != "MemTotal:") {
  }
  if (!(meminfo >> kibibytes)) {
    return absl::DataLossError(absl::StrCat(path, ": there is no MemTotal"));
  }
  const uint64_t total = kibibytes << 10;
  std::ifstream memory_max(root + "/sys/fs/cgroup/memory.max");
  uint64_t limit = 0;
  // The file has "max" if there is no limit.
  return memory_max >> limit ? std::min(total, limit) : total;
}

}  // namespace paceline
