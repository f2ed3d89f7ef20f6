// The child's side of "a child never outlives its parent".
#ifndef PACELINE_COMMON_PROCESS_LIFETIME_H_
#define PACELINE_COMMON_PROCESS_LIFETIME_H_

#include <string>

#include "absl/status/statusor.h"

namespace paceline {

// The first line that the parent wrote into the pipe, without the newline.
// Blocks until it is there; Unavailable if the parent is gone.
absl::StatusOr<std::string> ReadLine(int lifetime_fd);

// Ends this process when the other end of the pipe `lifetime_fd` closes, which
// happens when the parent dies for any reason. The parent also requests
// PR_SET_PDEATHSIG, but only the pipe works if the child was started through a
// wrapper. Starts a thread that runs until the process ends.
void EndWithParent(int lifetime_fd);

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_LIFETIME_H_
