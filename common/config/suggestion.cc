#include "common/config/suggestion.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/config/value.h"

namespace paceline {
namespace {

// Longer words are not considered to be misspelled.
constexpr size_t kMaxWord = 64;

// Lower case without underscores, so that "MaxPooling2D" and "max_pooling2d"
// are close.
std::string Fold(absl::string_view word) {
  std::string folded;
  for (char c : word) {
    if (c != '_') folded += absl::ascii_tolower(c);
  }
  return folded;
}

// Levenshtein distance: the minimum number of insertions, deletions and
// replacements of characters that turn `a` into `b`.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  // row[j] is the distance between the processed part of `a` and b[0, j).
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// Null if there is none.
const std::string* Nearest(absl::string_view word,
                           const std::vector<std::string>& known) {
  if (word.size() > kMaxWord) return nullptr;
  const std::string folded = Fold(word);
  const std::string* nearest = nullptr;
  size_t least = folded.size() / 3 + 2;
  for (const std::string& candidate : known) {
    const size_t distance = EditDistance(folded, Fold(candidate));
    if (distance < least) {
      least = distance;
      nearest = &candidate;
    }
  }
  return nearest;
}

}  // namespace

std::string DidYouMean(absl::string_view word,
                       const std::vector<std::string>& known) {
  const std::string* const nearest = Nearest(word, known);
  return nearest == nullptr
             ? ""
             : absl::StrCat("; did you mean ", Excerpt(*nearest), "?");
}

std::string Suggestion(absl::string_view word,
                       const std::vector<std::string>& known) {
  if (known.empty()) return "";
  const std::string meant = DidYouMean(word, known);
  return meant.empty() ? absl::StrCat("; known: ", absl::StrJoin(known, ", "))
                       : meant;
}

}  // namespace paceline
