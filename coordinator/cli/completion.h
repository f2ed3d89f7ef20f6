// Scripts with which shells complete what a user begins to type.
#ifndef PACELINE_COORDINATOR_CLI_COMPLETION_H_
#define PACELINE_COORDINATOR_CLI_COMPLETION_H_

#include <string>
#include <vector>

#include "common/command_line/command_tree.h"

namespace paceline {

// "bash", "fish", "zsh".
std::vector<std::string> CompletionShells();

// The script for one of these shells. It completes commands, options, values
// that are words, files, and, where a service answers within 2 s, ids of its
// jobs and names of its daemons; for `paceline` and for `coordinator`.
std::string CompletionScript(const std::string& shell,
                             const std::vector<Command>& commands);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_COMPLETION_H_
