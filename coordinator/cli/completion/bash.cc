#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "coordinator/cli/completion/script_parts.h"
#include "coordinator/cli/completion/shells.h"

namespace paceline {
namespace {

// compgen expands its words, so names from a service must not have what bash
// would take for more than text.
constexpr char kBash[] =
    R"(# Completion of paceline for bash, made by `paceline completion bash`.
_paceline_names() {
  timeout 2 "${COMP_WORDS[0]}" "$1" -o name 2>/dev/null |
    grep -Ex '[A-Za-z0-9._-]+'
}
_paceline() {
  local word=$2 last=$3 verb= words= i
  # Of "--option=value", which bash takes apart.
  if [[ $word == = ]]; then word=; fi
  if [[ $last == = ]]; then last=${COMP_WORDS[COMP_CWORD-2]}; fi
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "${verb:+$verb }${COMP_WORDS[i]}" in
      $PATHS) verb="${verb:+$verb }${COMP_WORDS[i]}" ;;
    esac
  done
  case "$verb $last" in
$VALUES  esac
  if [[ $word == -* ]]; then
    case $verb in
$OPTIONS    esac
  else
    case $verb in
$WORDS    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _paceline paceline coordinator
)";

// The words that bash may complete; no text: files.
std::string BashWords(const CommandOption& option) {
  switch (option.kind) {
    case ValueKind::kWords:
      return PosixQuoted(absl::StrJoin(option.words, " "));
    case ValueKind::kJob:
      return "$(_paceline_names list)";
    case ValueKind::kDaemon:
      return "$(_paceline_names members)";
    default:
      return "";
  }
}

}  // namespace

std::string BashScript(const std::vector<Command>& commands) {
  const auto value = [](const CommandOption& option) {
    const std::string words = BashWords(option);
    if (words.empty()) return words;
    return absl::StrCat("COMPREPLY=($(compgen -W ", words, " -- \"$word\")); ");
  };
  const auto options = [](const Command& command) {
    std::vector<std::string> names;
    for (const CommandOption& option : AllOptions(command)) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
    return absl::StrCat("words=", PosixQuoted(absl::StrJoin(names, " ")), " ");
  };
  const auto words = [](const Command& command) {
    return absl::StrCat("words=",
                        command.verbs.empty()
                            ? BashWords(FirstArgument(command))
                            : PosixQuoted(absl::StrJoin(command.verbs, " ")),
                        " ");
  };
  return absl::StrReplaceAll(kBash,
                             {{"$PATHS", PathPattern(commands)},
                              {"$VALUES", ValueBranches(commands, value)},
                              {"$OPTIONS", VerbBranches(commands, options)},
                              {"$WORDS", VerbBranches(commands, words)}});
}

}  // namespace paceline
