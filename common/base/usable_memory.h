// The memory that this process may use.
#ifndef PACELINE_COMMON_BASE_USABLE_MEMORY_H_
#define PACELINE_COMMON_BASE_USABLE_MEMORY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace paceline {

// In bytes: that of the machine, limited by the process' control group (version
// 2). `root` is the folder that has proc and sys: "" for the machine's own.
// NotFound or DataLoss if /proc/meminfo does not tell it.
absl::StatusOr<uint64_t> UsableMemory(const std::string& root = "");

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_USABLE_MEMORY_H_
