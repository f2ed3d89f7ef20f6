#include "common/callback/output_path.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/relative_path.h"
#include "common/config/value.h"

namespace paceline {
namespace {

// What the leader writes into the output folder.
constexpr absl::string_view kOwnNames[] = {
    ".lock",         "checkpoint",      "checkpoint.previous",
    "evaluator.csv", "history.csv",     "model.keras",
    "phases",        "phases.previous", "result.json",
    "steps.csv"};

// `parts`: at least one.
bool IsOfTheRun(const std::vector<absl::string_view>& parts) {
  // Files are written under this name first.
  const absl::string_view name = absl::StripSuffix(parts.front(), ".tmp");
  const bool is_task_log = parts.size() == 2 && name == "logs" &&
                           absl::EndsWith(parts.back(), ".log");
  return is_task_log || std::find(std::begin(kOwnNames), std::end(kOwnNames),
                                  name) != std::end(kOwnNames);
}

}  // namespace

absl::StatusOr<std::string> OutputPath(const std::string& text,
                                       const Path& field) {
  std::vector<absl::string_view> parts = absl::StrSplit(text, '/');
  const bool is_absolute = parts.size() > 1 && parts.front().empty();
  std::erase_if(parts, [](absl::string_view part) {
    return part.empty() || part == ".";
  });
  std::string path = absl::StrJoin(parts, "/");
  if (is_absolute || !StaysBelow(path)) {
    return ConfigError(field, absl::StrCat("expected a path below the job's "
                                           "output folder, got ",
                                           Excerpt(Value(text))));
  }
  if (IsOfTheRun(parts)) {
    return ConfigError(field, absl::StrCat(Excerpt(Value(text)),
                                           " is of the run itself; expected "
                                           "another name"));
  }
  return path;
}

bool IsModelPath(absl::string_view path, bool is_weights_only) {
  if (absl::EndsWith(path, kWeightsSuffix)) return is_weights_only;
  return !is_weights_only && (absl::EndsWith(path, kLegacySuffix) ||
                              absl::EndsWith(path, ".keras"));
}

}  // namespace paceline
