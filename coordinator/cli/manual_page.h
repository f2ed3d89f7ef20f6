// The program's manual page.
#ifndef PACELINE_COORDINATOR_CLI_MANUAL_PAGE_H_
#define PACELINE_COORDINATOR_CLI_MANUAL_PAGE_H_

#include <string>
#include <vector>

#include "coordinator/cli/command_tree.h"

namespace paceline {

// The page paceline(1), for `man`: all commands with their options, the
// environment, files and exit codes.
std::string ManualPage(const std::vector<Command>& commands,
                       const std::string& version);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_MANUAL_PAGE_H_
