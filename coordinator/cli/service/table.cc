#include "coordinator/cli/service/table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/utf8.h"
#include "glog/logging.h"

namespace paceline {
namespace {

size_t CountCharacters(absl::string_view text) {
  size_t count = 0;
  for (; !text.empty(); ++count) {
    text.remove_prefix(FirstCharacter(text).size);
  }
  return count;
}

}  // namespace

std::string TableText(const std::vector<std::vector<std::string>>& rows,
                      absl::string_view margin) {
  std::vector<std::vector<std::string>> cells;
  std::vector<size_t> widths(rows.empty() ? 0 : rows[0].size());
  for (const std::vector<std::string>& row : rows) {
    CHECK_EQ(row.size(), widths.size());
    std::vector<std::string>& line = cells.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) {
      line.push_back(row[i].empty() ? "-" : PeerText(row[i]));
      widths[i] = std::max(widths[i], CountCharacters(line[i]));
    }
  }
  std::string text;
  for (const std::vector<std::string>& line : cells) {
    absl::StrAppend(&text, margin);
    for (size_t i = 0; i < line.size(); ++i) {
      absl::StrAppend(&text, line[i]);
      // No spaces at the end of a line.
      if (i + 1 == line.size()) break;
      text.append(widths[i] - CountCharacters(line[i]) + 2, ' ');
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace paceline
