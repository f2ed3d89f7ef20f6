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

std::string HeaderOf(absl::Span<const LoggedMetric> metrics) {
  std::string header = "step";
  for (const LoggedMetric& metric : metrics) {
    absl::StrAppend(&header, ",", metric.name);
  }
  return absl::StrCat(header, "\r\n");
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
  return absl::StrContains(text, absl::StrCat("\n", step, ","));
}

absl::Status EvaluationLog::Add(int64_t step, const Logs& logs) const {
  ASSIGN_OR_RETURN(std::string text, Read());
  absl::StrAppend(&text, step);
  for (const auto& [name, value] : logs) {
    absl::StrAppendFormat(&text, ",%.17g", value);
  }
  absl::StrAppend(&text, "\r\n");
  return WriteFileAtomically(path_, text);
}

}  // namespace paceline
