#include "coordinator/cli/completion.h"

#include <glog/logging.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace paceline {
namespace {

// In each script, `verb` is the command so far: "", "list", "token create".

// For bash and zsh.
std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// "run|list|'token create'": a pattern of bash's and zsh's `case`.
std::string PathPattern(const std::vector<Command>& commands) {
  std::vector<std::string> paths;
  for (const Command& each : commands) {
    if (!each.path.empty()) paths.push_back(Quoted(each.path));
  }
  return absl::StrJoin(paths, "|");
}

std::vector<CommandOption> AllOptions(const Command& command) {
  std::vector<CommandOption> all = command.options;
  all.insert(all.end(), command.inherited.begin(), command.inherited.end());
  return all;
}

// What may follow a command that has neither verbs nor arguments: nothing.
CommandOption FirstArgument(const Command& command) {
  return command.arguments.empty() ? CommandOption()
                                   : command.arguments.front();
}

// The branches of a `case "$verb $last"` for options that have values.
template <typename ActionOf>
std::string ValueBranches(const std::vector<Command>& commands,
                          ActionOf action) {
  std::string text;
  for (const Command& command : commands) {
    for (const CommandOption& option : AllOptions(command)) {
      if (option.kind == ValueKind::kNone) continue;
      const auto add = [&](std::string* out, const std::string& name) {
        absl::StrAppend(out, Quoted(absl::StrCat(command.path, " ", name)));
      };
      absl::StrAppend(&text, "    ", absl::StrJoin(option.names, "|", add),
                      ") ", action(option), "return ;;\n");
    }
  }
  return text;
}

// The branches of a `case $verb`.
template <typename ActionOf>
std::string VerbBranches(const std::vector<Command>& commands,
                         ActionOf action) {
  std::string text;
  for (const Command& command : commands) {
    absl::StrAppend(&text, "      ", Quoted(command.path), ") ",
                    action(command), ";;\n");
  }
  return text;
}

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
      return Quoted(absl::StrJoin(option.words, " "));
    case ValueKind::kJob:
      return "$(_paceline_names list)";
    case ValueKind::kDaemon:
      return "$(_paceline_names members)";
    default:
      return "";
  }
}

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
    return absl::StrCat("words=", Quoted(absl::StrJoin(names, " ")), " ");
  };
  const auto words = [](const Command& command) {
    return absl::StrCat("words=",
                        command.verbs.empty()
                            ? BashWords(FirstArgument(command))
                            : Quoted(absl::StrJoin(command.verbs, " ")),
                        " ");
  };
  return absl::StrReplaceAll(kBash,
                             {{"$PATHS", PathPattern(commands)},
                              {"$VALUES", ValueBranches(commands, value)},
                              {"$OPTIONS", VerbBranches(commands, options)},
                              {"$WORDS", VerbBranches(commands, words)}});
}

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
  return Quoted(absl::StrCat(name, ":", FirstSentence(help)));
}

// What the help of a command says of a command below it.
std::string VerbHelp(const std::vector<Command>& commands,
                     const Command& command, const std::string& verb) {
  const std::string path =
      command.path.empty() ? verb : absl::StrCat(command.path, " ", verb);
  for (const Command& each : commands) {
    if (each.path == path) return each.help;
  }
  return "";
}

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

using ScriptOf = std::string (*)(const std::vector<Command>&);
constexpr std::pair<const char*, ScriptOf> kScripts[] = {
    {"bash", BashScript}, {"fish", FishScript}, {"zsh", ZshScript}};

}  // namespace

std::vector<std::string> CompletionShells() {
  std::vector<std::string> shells;
  for (const auto& [shell, script] : kScripts) shells.push_back(shell);
  return shells;
}

std::string CompletionScript(const std::string& shell,
                             const std::vector<Command>& commands) {
  for (const auto& [name, script] : kScripts) {
    if (shell == name) return script(commands);
  }
  LOG(FATAL) << shell;
}

}  // namespace paceline
