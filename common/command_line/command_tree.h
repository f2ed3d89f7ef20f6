// A program's commands and options, as its help, its manual page and the
// completions of shells tell them: all from CLI11's tree, so that a new one
// is written once.
#ifndef PACELINE_COMMON_COMMAND_LINE_COMMAND_TREE_H_
#define PACELINE_COMMON_COMMAND_LINE_COMMAND_TREE_H_

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

// Types of options' values (CLI::Option::type_name) whose values a service
// knows.
inline constexpr char kJobIdType[] = "JOB-ID";
inline constexpr char kDaemonType[] = "DAEMON";

enum class ValueKind {
  // A flag has none.
  kNone,
  // One of `words`.
  kWords,
  // The id of a job, or the name of a daemon, of a service.
  kJob,
  kDaemon,
  // A file or any other text.
  kText,
};

struct CommandOption {
  // "-o", "--output"; of an argument without such a name, "JOB" alone.
  std::vector<std::string> names;
  std::string help;
  // Under which name the help lists it with others; "": the first ones.
  std::string group;
  // "TEXT", "text|json"; "" for a flag.
  std::string type;
  // "": none.
  std::string default_text;
  bool is_required = false;
  ValueKind kind = ValueKind::kNone;
  std::vector<std::string> words;
};

struct Command {
  // "", "list", "token create".
  std::string path;
  std::string help;
  std::vector<CommandOption> options;
  // Those that it takes from the command above it.
  std::vector<CommandOption> inherited;
  // In their order.
  std::vector<CommandOption> arguments;
  // The names of the commands below it, and whether one of them must follow.
  std::vector<std::string> verbs;
  bool needs_verb = false;
};

// The program itself, then each command before those below it; without what
// the help hides.
std::vector<Command> CommandsOf(const CLI::App& app);

// All up to the end of the first sentence, without that.
std::string FirstSentence(const std::string& help);

}  // namespace paceline

#endif  // PACELINE_COMMON_COMMAND_LINE_COMMAND_TREE_H_
