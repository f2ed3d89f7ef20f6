#include "common/command_line/manual_page.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace paceline {
namespace {

// Text that troff takes for nothing else.
std::string Escaped(absl::string_view text) {
  std::string escaped =
      absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}, {"`", "\\(ga"}});
  // At the beginning of a line these begin a request.
  if (absl::StartsWith(escaped, ".") || absl::StartsWith(escaped, "'")) {
    escaped.insert(0, "\\&");
  }
  return absl::StrReplaceAll(escaped, {{"\n.", "\n\\&."}, {"\n'", "\n\\&'"}});
}

std::string Bold(absl::string_view text) {
  return absl::StrCat("\\fB", Escaped(text), "\\fR");
}

std::string OptionText(const CommandOption& option) {
  const auto add_bold = [](std::string* out, const std::string& name) {
    absl::StrAppend(out, Bold(name));
  };
  std::string text =
      absl::StrCat(".TP\n", absl::StrJoin(option.names, ", ", add_bold));
  if (!option.type.empty()) {
    absl::StrAppend(&text, " \\fI", Escaped(option.type), "\\fR");
  }
  absl::StrAppend(&text, "\n", Escaped(option.help));
  if (!option.default_text.empty()) {
    absl::StrAppend(&text, " Default: ", Escaped(option.default_text), ".");
  }
  return absl::StrCat(text, "\n");
}

// "paceline list [OPTION]..."
std::string UsageOf(const std::string& program, const Command& command) {
  std::string usage = program;
  if (!command.path.empty()) absl::StrAppend(&usage, " ", command.path);
  if (!command.verbs.empty()) {
    absl::StrAppend(&usage, command.needs_verb ? " COMMAND" : " [COMMAND]");
  }
  for (const CommandOption& option : command.options) {
    if (!option.is_required) continue;
    absl::StrAppend(&usage, " ", option.names.back(), " ", option.type);
  }
  for (const CommandOption& argument : command.arguments) {
    const std::string& name = argument.names.front();
    absl::StrAppend(&usage, " ",
                    argument.is_required ? name : absl::StrCat("[", name, "]"));
  }
  return absl::StrCat(usage, " [OPTION]...");
}

// Those of a group follow each other, after its name.
std::string OptionsText(const Command& command) {
  std::string text;
  for (const CommandOption& argument : command.arguments) {
    absl::StrAppend(&text, OptionText(argument));
  }
  std::vector<std::string> groups;
  for (const CommandOption& option : command.options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  for (const std::string& group : groups) {
    if (!group.empty()) absl::StrAppend(&text, ".PP\n", Escaped(group), ":\n");
    for (const CommandOption& option : command.options) {
      if (option.group == group) absl::StrAppend(&text, OptionText(option));
    }
  }
  return text;
}

std::string Section(absl::string_view title,
                    const std::vector<ManualText::Entry>& entries) {
  if (entries.empty()) return "";
  std::string text = absl::StrCat(".SH ", title, "\n");
  for (const auto& [term, meaning] : entries) {
    absl::StrAppend(&text, ".TP\n", Bold(term), "\n", Escaped(meaning), "\n");
  }
  return text;
}

}  // namespace

std::string ManualPage(const ManualText& text,
                       const std::vector<Command>& commands,
                       const std::string& version) {
  std::string page = absl::StrCat(
      ".TH ", Escaped(absl::AsciiStrToUpper(text.name)), " ", text.section,
      " \"\" \"Paceline ", Escaped(version), "\"\n.SH NAME\n",
      Escaped(text.name), " \\- ", Escaped(text.summary), "\n");
  for (const Command& command : commands) {
    const std::string usage = UsageOf(text.program, command);
    if (!command.path.empty()) {
      absl::StrAppend(&page, ".SS \"", Escaped(usage), "\"\n",
                      Escaped(command.help), "\n", OptionsText(command));
      continue;
    }
    absl::StrAppend(&page, ".SH SYNOPSIS\n", Bold(usage), "\n.SH DESCRIPTION\n",
                    Escaped(command.help), "\n.SH OPTIONS\n",
                    OptionsText(command));
    if (!command.verbs.empty()) absl::StrAppend(&page, ".SH COMMANDS\n");
  }
  absl::StrAppend(&page, Section("ENVIRONMENT", text.environment),
                  Section("FILES", text.files),
                  Section("EXIT STATUS", text.exit_codes));
  if (!text.see_also.empty()) {
    absl::StrAppend(&page, ".SH SEE ALSO\n", Escaped(text.see_also), "\n");
  }
  return page;
}

}  // namespace paceline
