// What a terminal shows after a program has written to it.
#ifndef PACELINE_TESTS_SCREEN_LINES_H_
#define PACELINE_TESTS_SCREEN_LINES_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "common/base/utf8.h"

namespace paceline {

// The lines of a terminal that is wide enough for each, without blanks at their
// ends. Knows line breaks, returns, backspaces and colours.
inline std::vector<std::string> ScreenLines(absl::string_view written) {
  // By column.
  std::vector<std::vector<std::string>> cells(1);
  size_t column = 0;
  while (!written.empty()) {
    const absl::string_view character =
        written.substr(0, FirstCharacter(written).size);
    written.remove_prefix(character.size());
    if (character == "\n") {
      cells.emplace_back();
      column = 0;
    } else if (character == "\r") {
      column = 0;
    } else if (character == "\b") {
      column -= column > 0 ? 1 : 0;
    } else if (character == "\x1b") {
      written.remove_prefix(std::min(written.find('m'), written.size() - 1) +
                            1);
    } else {
      std::vector<std::string>& line = cells.back();
      if (line.size() <= column) line.resize(column + 1, " ");
      line[column++] = std::string(character);
    }
  }
  std::vector<std::string> lines;
  for (const std::vector<std::string>& line : cells) {
    std::string text;
    for (const std::string& cell : line) text += cell;
    lines.emplace_back(absl::StripTrailingAsciiWhitespace(text));
  }
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace paceline

#endif  // PACELINE_TESTS_SCREEN_LINES_H_
