// Manual pages of the programs.
#ifndef PACELINE_COMMON_COMMAND_LINE_MANUAL_PAGE_H_
#define PACELINE_COMMON_COMMAND_LINE_MANUAL_PAGE_H_

#include <string>
#include <vector>

#include "common/command_line/command_tree.h"

namespace paceline {

// The verb of each program that prints its page.
inline constexpr char kManualPageVerb[] = "man";
inline constexpr char kManualPageHelp[] =
    "Prints the manual page, for `man -l -`.";

// What a page says besides the program's commands. All is plain text.
struct ManualText {
  struct Entry {
    std::string term;
    std::string meaning;
  };

  // Of the page; the program as one calls it.
  std::string name;
  std::string program;
  // 1: a command, 8: a daemon.
  int section = 1;
  // "what it does".
  std::string summary;
  std::vector<Entry> environment;
  std::vector<Entry> files;
  std::vector<Entry> exit_codes;
  // "paceline(1)".
  std::string see_also;
};

// The page as troff with the macros `man`: all commands with their options, and
// `text`.
std::string ManualPage(const ManualText& text,
                       const std::vector<Command>& commands,
                       const std::string& version);

}  // namespace paceline

#endif  // PACELINE_COMMON_COMMAND_LINE_MANUAL_PAGE_H_
