#include "common/data_source/csv_decoder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/config/suggestion.h"
#include "common/config/value.h"
#include "common/data_source/csv_number.h"

namespace paceline {
namespace {

absl::Status WrongValue(const CsvValue& value, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(value.name, ": ", what));
}

// Of the classes: "one of the classes "a", "b"", or of so many.
std::string ExpectedClasses(const CsvClasses& classes, absl::string_view text) {
  constexpr size_t kMaxListed = 10;
  std::vector<std::string> names;
  for (const auto& [name, id] : classes) names.push_back(name);
  std::sort(names.begin(), names.end());
  const std::string meant = DidYouMean(text, names);
  if (names.size() > kMaxListed || !meant.empty()) {
    return absl::StrCat("one of the ", names.size(), " classes", meant);
  }
  return absl::StrCat(
      "one of the classes ",
      absl::StrJoin(names, ", ", [](std::string* out, const auto& name) {
        out->append(Excerpt(name));
      }));
}

}  // namespace

CsvDecoder::CsvDecoder(char delimiter, std::vector<CsvValue> values,
                       std::vector<std::string> missing_texts)
    : delimiter_(delimiter), missing_texts_(std::move(missing_texts)) {
  for (const std::string& text : missing_texts_) {
    if (ParseCsvNumber(text)) numbers_are_there_ = false;
  }
  for (CsvValue& value : values) {
    targets_.push_back({std::move(value), targets_.size()});
  }
  std::stable_sort(targets_.begin(), targets_.end(),
                   [](const Target& a, const Target& b) {
                     return a.value.column < b.value.column;
                   });
}

absl::Status CsvDecoder::Decode(absl::string_view row, std::string& scratch,
                                double* out) const {
  CsvFields fields(row, delimiter_);
  int64_t column = 0;
  for (auto target = targets_.begin(); target != targets_.end(); ++column) {
    if (fields.is_done()) {
      return WrongValue(target->value, "the row has no such field any more");
    }
    if (column < target->value.column) {
      fields.Next();
      continue;
    }
    const Field field = NextField(fields, scratch);
    for (; target != targets_.end() && target->value.column == column;
         ++target) {
      if (field.number && target->value.classes == nullptr) {
        out[target->index] = *field.number;
        continue;
      }
      RETURN_IF_ERROR(
          DecodeText(target->value, field.text, out[target->index]));
    }
  }
  return absl::OkStatus();
}

CsvDecoder::Field CsvDecoder::NextField(CsvFields& fields,
                                        std::string& scratch) const {
  // Most fields are short numbers, of which each byte is looked at once.
  if (numbers_are_there_) {
    const absl::string_view rest = fields.rest();
    double number = 0;
    const size_t size = ReadShortNumber(rest, number);
    if (size > 0 && (size == rest.size() || rest[size] == delimiter_)) {
      fields.Skip(size);
      return {rest.substr(0, size), number};
    }
  }
  return {UnquotedCsv(fields.Next(), scratch), std::nullopt};
}

absl::Status CsvDecoder::DecodeText(const CsvValue& value,
                                    absl::string_view text, double& out) const {
  if (value.classes != nullptr) {
    const auto found = value.classes->find(text);
    if (found != value.classes->end()) {
      out = found->second;
      return absl::OkStatus();
    }
  }
  if (IsMissing(text)) {
    if (!value.if_missing) {
      return WrongValue(value, absl::StrCat("is missing (", Excerpt(text),
                                            "), expected a value"));
    }
    out = *value.if_missing;
    return absl::OkStatus();
  }
  if (value.classes != nullptr) {
    return WrongValue(value,
                      absl::StrCat("is ", Excerpt(text), ", expected ",
                                   ExpectedClasses(*value.classes, text)));
  }
  const std::optional<double> number = ParseCsvNumber(text);
  if (!number) {
    return WrongValue(value, absl::StrCat("is ", Excerpt(text),
                                          ", expected a number of float32"));
  }
  out = *number;
  return absl::OkStatus();
}

bool CsvDecoder::IsMissing(absl::string_view text) const {
  return text.empty() || std::find(missing_texts_.begin(), missing_texts_.end(),
                                   text) != missing_texts_.end();
}

}  // namespace paceline
