// The room that others must leave on a disk, so that what has to be written
// there still can be.
#ifndef PACELINE_COORDINATOR_STORE_DISK_RESERVE_H_
#define PACELINE_COORDINATOR_STORE_DISK_RESERVE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace paceline {

// ResourceExhausted, naming the folder, what is free and what is kept free, if
// less than `min_free_bytes` would be free on the folder's disk after a write
// of `bytes`; for 0 nothing is refused. Two that ask at once may both get the
// last room. `folder` must exist.
absl::Status CheckDiskReserve(const std::string& folder, uint64_t bytes,
                              uint64_t min_free_bytes);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_STORE_DISK_RESERVE_H_
