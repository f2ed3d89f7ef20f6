// The shells that have completions, one file each. A new one is listed here and
// in coordinator/cli/completion.cc.
#ifndef PACELINE_COORDINATOR_CLI_COMPLETION_SHELLS_H_
#define PACELINE_COORDINATOR_CLI_COMPLETION_SHELLS_H_

#include <string>
#include <vector>

#include "coordinator/cli/completion.h"

namespace paceline {

// The script for a shell, as CompletionScript says.
using ShellScript = std::string(const std::vector<Command>& commands);

ShellScript BashScript;
ShellScript FishScript;
ShellScript ZshScript;

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_COMPLETION_SHELLS_H_
