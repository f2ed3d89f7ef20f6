// A child that never outlives its parent.
#ifndef PACELINE_COMMON_PROCESS_LIFETIME_H_
#define PACELINE_COMMON_PROCESS_LIFETIME_H_

#include <string>

#include "absl/status/statusor.h"

namespace paceline {

// The first line that the parent wrote into the pipe, without its end. Blocks
// until it is there; Unavailable if the parent is gone.
absl::StatusOr<std::string> ReadLine(int lifetime_fd);

// Ends this process when the other end of the pipe `lifetime_fd` closes, which
// the kernel does when the parent dies, of whatever cause. The parent asks for
// PR_SET_PDEATHSIG besides; the pipe also works when the parent's thread that
// spawned the child ends, or the child was started through a wrapper. Starts a
// thread that lives as long as the process.
void EndWithParent(int lifetime_fd);

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_LIFETIME_H_
