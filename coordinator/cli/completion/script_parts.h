// What scripts for completion have in common. In each, `verb` is the command so
// far: "", "list", "token create".
#ifndef PACELINE_COORDINATOR_CLI_COMPLETION_SCRIPT_PARTS_H_
#define PACELINE_COORDINATOR_CLI_COMPLETION_SCRIPT_PARTS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "coordinator/cli/completion.h"

namespace paceline {

// --- Any shell ---

// Those that it takes from the command above it included.
std::vector<CommandOption> AllOptions(const Command& command);

// What may follow a command that has neither verbs nor arguments: nothing.
CommandOption FirstArgument(const Command& command);

// What the help of a command says of a command below it.
std::string VerbHelp(const std::vector<Command>& commands,
                     const Command& command, const std::string& verb);

// --- Shells whose `case` and quotes are those of POSIX: bash, zsh ---

std::string PosixQuoted(absl::string_view text);

// "'run'|'list'|'token create'": a pattern of `case`.
std::string PathPattern(const std::vector<Command>& commands);

// The branches of a `case "$verb $last"` for options that have values.
std::string ValueBranches(
    const std::vector<Command>& commands,
    const std::function<std::string(const CommandOption&)>& action);

// The branches of a `case $verb`.
std::string VerbBranches(
    const std::vector<Command>& commands,
    const std::function<std::string(const Command&)>& action);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_COMPLETION_SCRIPT_PARTS_H_
