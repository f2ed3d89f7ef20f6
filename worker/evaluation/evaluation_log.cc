#include "worker/evaluation/evaluation_log.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/limits.h"

namespace paceline {
namespace {

constexpr char kLineEnd[] = "\r\n";

std::string HeaderOf(absl::Span<const LoggedMetric> metrics) {
  std::string header = "step";
  for (const LoggedMetric& metric : metrics) {
    absl::StrAppend(&header, ",", metric.name);
  }
  return absl::StrCat(header, kLineEnd);
}

}  // namespace

EvaluationLog::EvaluationLog(std::string path,
                             absl::Span<const LoggedMetric> metrics)
    : path_(std::move(path)), header_(HeaderOf(metrics)) {}

absl::StatusOr<std::string> EvaluationLog::Read() const {
  absl::StatusOr<std::string> text = ReadFile(path_, limits::kMaxHeaderBytes);
  if (absl::IsNotFound(text.status())) return header_;
  RETURN_IF_ERROR(text.status());
  return absl::StartsWith(*text, header_) ? *std::move(text) : header_;
}

absl::StatusOr<bool> EvaluationLog::Has(int64_t step) const {
  ASSIGN_OR_RETURN(const std::string text, Read());
  return absl::StrContains(text, absl::StrCat(kLineEnd, step, ","));
}

absl::Status EvaluationLog::Set(int64_t step, const Logs& logs) const {
  ASSIGN_OR_RETURN(std::string text, Read());
  std::string row = absl::StrCat(step);
  for (const auto& [name, value] : logs) {
    absl::StrAppendFormat(&row, ",%.17g", value);
  }
  const size_t before = text.find(absl::StrCat(kLineEnd, step, ","));
  if (before == std::string::npos) {
    absl::StrAppend(&text, row, kLineEnd);
  } else {
    const size_t begin = text.find_first_not_of(kLineEnd, before);
    text.replace(begin, text.find(kLineEnd, begin) - begin, row);
  }
  return WriteFileAtomically(path_, text);
}

}  // namespace paceline
