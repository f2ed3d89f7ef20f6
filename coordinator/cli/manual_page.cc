#include "coordinator/cli/manual_page.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace paceline {
namespace {

constexpr char kHead[] = R"(.SH NAME
paceline \- trains Keras\-style models on clusters of machines
.SH SYNOPSIS
.B paceline
.I COMMAND
[\fIOPTION\fR]...
.SH DESCRIPTION
)";

constexpr char kTail[] = R"(.SH ENVIRONMENT
.TP
.B PACELINE_COORDINATOR
The service's coordinator, host:port; \fB\-\-coordinator\fR goes first.
.TP
.BR PACELINE_SECRET_FILE ", " PACELINE_TOKEN_FILE
The file with the service's secret, or with one's own token.
.TP
.BR PACELINE_JOB_SECRET_FILE ", " PACELINE_JOB_SECRET
The secret of a job whose tasks are started by hand.
.TP
.B TF_CONFIG
The cluster and this task's place in it, as TensorFlow and Kubeflow write it.
.SH FILES
.TP
.I ~/.config/paceline/config.yaml
Contexts: the addresses, secrets, tokens and certificates of services.
.TP
.IR /etc/default/paceline\-coordinator ", " paceline\-ps ", " paceline\-worker
Options of the units of systemd.
.TP
.IR /usr/lib/paceline/ps_server ", " /usr/lib/paceline/worker
The daemons; \fB\-\-help\fR shows their options.
.TP
.I /usr/share/doc/paceline
The README, the reference of job files, and examples.
.SH EXIT STATUS
.TP
.B 0
It went well.
.TP
.B 1
The job failed, or the service did not answer.
.TP
.B 2
Wrong use, or a bad job or data file.
.TP
.B 130
The user stopped it, or the job that was waited for was stopped.
.TP
.B 138
A signal ended a task whose place a new process may take.
)";

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

std::string OptionText(const CommandOption& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) {
    names.push_back(absl::StrCat("\\fB", Escaped(name), "\\fR"));
  }
  std::string text = absl::StrCat(".TP\n", absl::StrJoin(names, ", "));
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
std::string UsageOf(const Command& command) {
  std::string usage = absl::StrCat("paceline ", command.path);
  if (!command.verbs.empty()) absl::StrAppend(&usage, " COMMAND");
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

std::string OptionsText(const Command& command) {
  std::string text;
  for (const CommandOption& argument : command.arguments) {
    absl::StrAppend(&text, OptionText(argument));
  }
  for (const CommandOption& option : command.options) {
    absl::StrAppend(&text, OptionText(option));
  }
  return text;
}

}  // namespace

std::string ManualPage(const std::vector<Command>& commands,
                       const std::string& version) {
  std::string text =
      absl::StrCat(".TH PACELINE 1 \"\" \"Paceline ", Escaped(version),
                   "\" \"User Commands\"\n", kHead);
  for (const Command& command : commands) {
    const bool is_program = command.path.empty();
    if (!is_program) {
      absl::StrAppend(&text, ".SS \"", Escaped(UsageOf(command)), "\"\n");
    }
    absl::StrAppend(&text, Escaped(command.help), "\n", OptionsText(command));
    if (is_program) absl::StrAppend(&text, ".SH COMMANDS\n");
  }
  return absl::StrCat(text, kTail);
}

}  // namespace paceline
