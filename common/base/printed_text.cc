#include "common/base/printed_text.h"

#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/utf8.h"

namespace paceline {

std::string PrintedText(absl::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const absl::string_view first = text.substr(0, FirstCharacter(text).size);
    const bool stays = first == "\n" || first == "\t";
    absl::StrAppend(&safe, stays ? std::string(first) : PeerText(first));
    text.remove_prefix(first.size());
  }
  return safe;
}

}  // namespace paceline
