#include "common/command_line/command_tree.h"

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace paceline {
namespace {

// CLI11's name for options without another.
constexpr char kFirstGroup[] = "Options";

// CLI11 tells the values that an option may have in its type: "TEXT:{a,b}".
std::vector<std::string> WordsOf(absl::string_view type) {
  const size_t begin = type.find(":{");
  if (begin == type.npos || !absl::EndsWith(type, "}")) return {};
  type = type.substr(begin + 2, type.size() - begin - 3);
  return absl::StrSplit(type, ',');
}

ValueKind KindOf(const CommandOption& option) {
  if (!option.words.empty()) return ValueKind::kWords;
  if (option.type == kJobIdType) return ValueKind::kJob;
  if (option.type == kDaemonType) return ValueKind::kDaemon;
  return option.type.empty() ? ValueKind::kNone : ValueKind::kText;
}

CommandOption OptionOf(const CLI::Option& option) {
  CommandOption result;
  for (const std::string& name : option.get_snames()) {
    result.names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    result.names.push_back("--" + name);
  }
  if (option.get_positional()) result.names = {option.get_name()};
  result.help = option.get_description();
  if (option.get_group() != kFirstGroup) result.group = option.get_group();
  result.default_text = option.get_default_str();
  result.is_required = option.get_required();
  if (option.get_type_size() != 0) {
    result.type = option.get_type_name();
    result.words = WordsOf(result.type);
    if (!result.words.empty()) result.type = absl::StrJoin(result.words, "|");
    // What else a validator says is in the option's help.
    result.type = result.type.substr(0, result.type.find(':'));
  }
  result.kind = KindOf(result);
  return result;
}

void AddCommands(const CLI::App& app, const std::string& path,
                 std::vector<Command>& commands) {
  Command command;
  command.path = path;
  command.help = app.get_description();
  command.needs_verb = app.get_require_subcommand_min() > 0;
  for (const CLI::Option* each : app.get_options()) {
    if (each->get_group().empty()) continue;
    (each->get_positional() ? command.arguments : command.options)
        .push_back(OptionOf(*each));
  }
  if (app.get_fallthrough() && app.get_parent() != nullptr) {
    for (const CLI::Option* each : app.get_parent()->get_options()) {
      if (each == app.get_parent()->get_help_ptr()) continue;
      if (each->get_group().empty() || each->get_positional()) continue;
      command.inherited.push_back(OptionOf(*each));
    }
  }
  const size_t place = commands.size();
  commands.push_back(std::move(command));
  for (const CLI::App* each : app.get_subcommands(nullptr)) {
    if (each->get_group().empty()) continue;
    commands[place].verbs.push_back(each->get_name());
    AddCommands(*each,
                path.empty() ? each->get_name()
                             : absl::StrCat(path, " ", each->get_name()),
                commands);
  }
}

}  // namespace

std::vector<Command> CommandsOf(const CLI::App& app) {
  std::vector<Command> commands;
  AddCommands(app, "", commands);
  return commands;
}

std::string FirstSentence(const std::string& help) {
  const size_t end = help.find(". ");
  if (end != help.npos) return help.substr(0, end);
  return absl::EndsWith(help, ".") ? help.substr(0, help.size() - 1) : help;
}

}  // namespace paceline
