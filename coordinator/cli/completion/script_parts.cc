#include "coordinator/cli/completion/script_parts.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace paceline {

std::vector<CommandOption> AllOptions(const Command& command) {
  std::vector<CommandOption> all = command.options;
  all.insert(all.end(), command.inherited.begin(), command.inherited.end());
  return all;
}

CommandOption FirstArgument(const Command& command) {
  return command.arguments.empty() ? CommandOption()
                                   : command.arguments.front();
}

std::string VerbHelp(const std::vector<Command>& commands,
                     const Command& command, const std::string& verb) {
  const std::string path =
      command.path.empty() ? verb : absl::StrCat(command.path, " ", verb);
  for (const Command& each : commands) {
    if (each.path == path) return each.help;
  }
  return "";
}

std::string PosixQuoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

std::string PathPattern(const std::vector<Command>& commands) {
  std::vector<std::string> paths;
  for (const Command& each : commands) {
    if (!each.path.empty()) paths.push_back(PosixQuoted(each.path));
  }
  return absl::StrJoin(paths, "|");
}

std::string ValueBranches(
    const std::vector<Command>& commands,
    const std::function<std::string(const CommandOption&)>& action) {
  std::string text;
  for (const Command& command : commands) {
    for (const CommandOption& option : AllOptions(command)) {
      if (option.kind == ValueKind::kNone) continue;
      const auto add = [&](std::string* out, const std::string& name) {
        absl::StrAppend(out,
                        PosixQuoted(absl::StrCat(command.path, " ", name)));
      };
      absl::StrAppend(&text, "    ", absl::StrJoin(option.names, "|", add),
                      ") ", action(option), "return ;;\n");
    }
  }
  return text;
}

std::string VerbBranches(
    const std::vector<Command>& commands,
    const std::function<std::string(const Command&)>& action) {
  std::string text;
  for (const Command& command : commands) {
    absl::StrAppend(&text, "      ", PosixQuoted(command.path), ") ",
                    action(command), ";;\n");
  }
  return text;
}

}  // namespace paceline
