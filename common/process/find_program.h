// Whether a program can be executed, before it is.
#ifndef PACELINE_COMMON_PROCESS_FIND_PROGRAM_H_
#define PACELINE_COMMON_PROCESS_FIND_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace paceline {

// Looks for the program as execvp does in a process with this `environment`,
// whose entries are "NAME=value": a name without a slash in the folders of the
// first PATH, which is the one that getenv returns. NotFound, which says where
// it was looked for, if this user can execute none. Reads folders.
absl::Status FindProgram(const std::string& name,
                         const std::vector<std::string>& environment);

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_FIND_PROGRAM_H_
