#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "coordinator/cli/completion/script_parts.h"
#include "coordinator/cli/completion/shells.h"

namespace paceline {
namespace {

constexpr char kFish[] =
    R"(# Completion of paceline for fish, made by `paceline completion fish`.
function __paceline_at
  set -l words (commandline -opc)
  set -l verb ''
  for word in $words[2..-1]
    set -l longer (string trim -- "$verb $word")
    contains -- "$longer" $PATHS; and set verb $longer
  end
  test "$verb" = "$argv"
end
function __paceline_names
  set -l words (commandline -opc)
  timeout 2 $words[1] $argv -o name 2>/dev/null
end
complete -c coordinator -w paceline
complete -c paceline -f
)";

std::string FishQuoted(absl::string_view text) {
  return absl::StrCat(
      "'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

// The values of an option or argument.
std::string FishValues(const CommandOption& option) {
  switch (option.kind) {
    case ValueKind::kWords:
      return absl::StrCat(" -x -a ",
                          FishQuoted(absl::StrJoin(option.words, " ")));
    case ValueKind::kJob:
      return " -x -a '(__paceline_names list)'";
    case ValueKind::kDaemon:
      return " -x -a '(__paceline_names members)'";
    case ValueKind::kText:
      return " -r -F";
    case ValueKind::kNone:
      return "";
  }
  return "";
}

std::string FishNames(const CommandOption& option) {
  std::string text;
  for (const absl::string_view name : option.names) {
    absl::StrAppend(&text, absl::StartsWith(name, "--") ? " -l " : " -s ",
                    name.substr(absl::StartsWith(name, "--") ? 2 : 1));
  }
  return text;
}

}  // namespace

std::string FishScript(const std::vector<Command>& commands) {
  std::vector<std::string> paths;
  for (const Command& command : commands) {
    if (!command.path.empty()) paths.push_back(FishQuoted(command.path));
  }
  std::string text =
      absl::StrReplaceAll(kFish, {{"$PATHS", absl::StrJoin(paths, " ")}});
  for (const Command& command : commands) {
    const std::string line =
        absl::StrCat("complete -c paceline -n ",
                     FishQuoted(absl::StrCat("__paceline_at ", command.path)));
    for (const std::string& verb : command.verbs) {
      absl::StrAppend(
          &text, line, " -a ", verb, " -d ",
          FishQuoted(FirstSentence(VerbHelp(commands, command, verb))), "\n");
    }
    if (command.verbs.empty() && !command.arguments.empty()) {
      absl::StrAppend(&text, line, FishValues(FirstArgument(command)), "\n");
    }
    for (const CommandOption& option : AllOptions(command)) {
      absl::StrAppend(&text, line, FishNames(option), FishValues(option),
                      " -d ", FishQuoted(FirstSentence(option.help)), "\n");
    }
  }
  return text;
}

}  // namespace paceline
