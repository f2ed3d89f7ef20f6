#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "coordinator/cli/completion/script_parts.h"
#include "coordinator/cli/completion/shells.h"

namespace paceline {
namespace {

constexpr char kZsh[] =
    R"zsh(#compdef paceline coordinator
# Completion of paceline for zsh, made by `paceline completion zsh`.
_paceline_names() {
  local -a names
  names=(${(f)"$(timeout 2 $words[1] $1 -o name 2>/dev/null)"})
  compadd -a names
}
_paceline() {
  local last=${words[CURRENT-1]} verb= i
  local -a choices
  for ((i = 2; i < CURRENT; ++i)); do
    case "${verb:+$verb }${words[i]}" in
      $PATHS) verb="${verb:+$verb }${words[i]}" ;;
    esac
  done
  # Of "--option=value".
  if compset -P '--*='; then last=${IPREFIX%=}; fi
  case "$verb $last" in
$VALUES  esac
  if [[ $PREFIX == -* ]]; then
    case $verb in
$OPTIONS    esac
    _describe -o option choices
  else
    case $verb in
$WORDS    esac
  fi
}
if [[ $funcstack[1] == _paceline ]]; then
  _paceline
else
  compdef _paceline paceline coordinator
fi
)zsh";

std::string ZshAction(const CommandOption& option) {
  switch (option.kind) {
    case ValueKind::kWords:
      return absl::StrCat("compadd ", absl::StrJoin(option.words, " "), "; ");
    case ValueKind::kJob:
      return "_paceline_names list; ";
    case ValueKind::kDaemon:
      return "_paceline_names members; ";
    case ValueKind::kText:
      return "_files; ";
    case ValueKind::kNone:
      return "";
  }
  return "";
}

// "'name:what it does'", for _describe.
std::string ZshChoice(absl::string_view name, const std::string& help) {
  return PosixQuoted(absl::StrCat(name, ":", FirstSentence(help)));
}

}  // namespace

std::string ZshScript(const std::vector<Command>& commands) {
  const auto options = [](const Command& command) {
    std::vector<std::string> choices;
    for (const CommandOption& option : AllOptions(command)) {
      for (const std::string& name : option.names) {
        choices.push_back(ZshChoice(name, option.help));
      }
    }
    return absl::StrCat("choices=(", absl::StrJoin(choices, " "), ") ");
  };
  const auto words = [&commands](const Command& command) {
    if (command.verbs.empty()) return ZshAction(FirstArgument(command));
    std::vector<std::string> choices;
    for (const std::string& verb : command.verbs) {
      choices.push_back(ZshChoice(verb, VerbHelp(commands, command, verb)));
    }
    return absl::StrCat("choices=(", absl::StrJoin(choices, " "),
                        "); _describe command choices ");
  };
  return absl::StrReplaceAll(kZsh,
                             {{"$PATHS", PathPattern(commands)},
                              {"$VALUES", ValueBranches(commands, ZshAction)},
                              {"$OPTIONS", VerbBranches(commands, options)},
                              {"$WORDS", VerbBranches(commands, words)}});
}

}  // namespace paceline
