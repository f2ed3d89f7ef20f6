// How a command that runs no job ends.
#ifndef PACELINE_COMMON_PROCESS_FINISH_COMMAND_H_
#define PACELINE_COMMON_PROCESS_FINISH_COMMAND_H_

#include "absl/status/status.h"

namespace paceline {

// The exit code of a command that runs no job, whose error it prints.
// Cancelled: the user stopped it.
int FinishCommand(const absl::Status& status);

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_FINISH_COMMAND_H_
