#include "common/callback/csv_logger.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "common/base/status_macros.h"
#include "common/callback/output_path.h"
#include "common/callback/python_number.h"
#include "common/checkpoint/object_reader.h"
#include "common/config/field_table.h"
#include "common/config/path.h"
#include "common/limits.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

absl::Status CheckCsvLogger(const CsvLogger& logger, const Path& path) {
  RETURN_IF_ERROR(OutputPath(logger.filename, path.Key("filename")).status());
  const std::string& separator = logger.separator;
  if (separator.size() != 1 || absl::StrContains("\"\r\n", separator) ||
      static_cast<unsigned char>(separator[0]) > 127) {
    return ConfigError(path.Key("separator"),
                       absl::StrCat("expected one ASCII character, no quote "
                                    "and no end of a line, got ",
                                    Excerpt(Value(separator))));
  }
  return absl::OkStatus();
}

std::vector<std::string> KeysOf(const Logs& logs) {
  std::vector<std::string> keys;
  bool has_validation = false;
  for (const auto& [key, value] : logs) {
    keys.push_back(key);
    has_validation |= absl::StartsWith(key, "val_");
  }
  std::sort(keys.begin(), keys.end());
  if (has_validation) return keys;
  const size_t count = keys.size();
  for (size_t i = 0; i < count; ++i) {
    keys.push_back(absl::StrCat("val_", keys[i]));
  }
  return keys;
}

std::string ValueText(const Logs& logs, const std::string& key) {
  const auto found =
      std::find_if(logs.begin(), logs.end(),
                   [&](const auto& entry) { return entry.first == key; });
  return found == logs.end() ? "NA" : PythonNumber(found->second);
}

}  // namespace

const FieldTable<CsvLogger>& CsvLogger::Fields() {
  static const auto& table = *new FieldTable<CsvLogger>(
      kClassName, "Writes a row of values for each epoch into a CSV file.",
      {Required("filename", &CsvLogger::filename,
                "The file, below the job's output folder."),
       Optional("separator", &CsvLogger::separator,
                "The character between two values."),
       Optional("append", &CsvLogger::append,
                "Whether to go on with a file that is there. A job that "
                "resumes always does.")},
      [] { return CsvLogger(); }, CheckCsvLogger);
  return table;
}

absl::Status CsvLogger::Prepare(const CallbackContext& context,
                                const Path& path) {
  ASSIGN_OR_RETURN(filename, OutputPath(filename, path.Key("filename")));
  if (context.output_size) size_ = context.output_size(filename);
  if (append) offset_ = size_.value_or(0);
  return absl::OkStatus();
}

void CsvLogger::EpochEnded(EpochEnd& end, Decision& decision) {
  WriteToFile write;
  write.path = filename;
  write.offset = offset_;
  if (!keys_) keys_ = KeysOf(end.logs);
  if (offset_ == 0) {
    std::vector<std::string> header = {"epoch"};
    header.insert(header.end(), keys_->begin(), keys_->end());
    write.bytes = Row(header);
  }
  std::vector<std::string> cells = {absl::StrCat(end.epoch)};
  for (const std::string& key : *keys_) {
    cells.push_back(ValueText(end.logs, key));
  }
  absl::StrAppend(&write.bytes, Row(cells));
  offset_ += static_cast<int64_t>(write.bytes.size());
  decision.outputs.emplace_back(std::move(write));
}

std::string CsvLogger::Row(const std::vector<std::string>& cells) const {
  const std::string special = absl::StrCat(separator, "\"\r\n");
  const auto append_cell = [&](std::string* row, const std::string& cell) {
    const bool is_plain = cell.find_first_of(special) == std::string::npos;
    absl::StrAppend(
        row, is_plain ? cell
                      : absl::StrCat(
                            "\"", absl::StrReplaceAll(cell, {{"\"", "\"\""}}),
                            "\""));
  };
  return absl::StrCat(absl::StrJoin(cells, separator, append_cell), "\r\n");
}

nlohmann::json CsvLogger::Save() const {
  nlohmann::json state = {{"offset", offset_}, {"keys", nullptr}};
  if (keys_) state["keys"] = *keys_;
  return state;
}

absl::Status CsvLogger::Restore(const ObjectReader& state) {
  ASSIGN_OR_RETURN(offset_, state.Count("offset", limits::kMaxToldBytes));
  // Somebody has deleted the file, so it gets its header again.
  if (size_ == 0) offset_ = 0;
  const absl::StatusOr<const nlohmann::json*> keys = state.List("keys");
  if (!keys.ok()) {
    // Null before the first row, which is read as NaN.
    const absl::StatusOr<double> none = state.Number("keys");
    const bool is_null = none.ok() && std::isnan(*none);
    return is_null ? absl::OkStatus() : keys.status();
  }
  keys_.emplace();
  for (const nlohmann::json& key : **keys) {
    if (!key.is_string()) return state.Error("keys", "a list of strings");
    keys_->push_back(key.get<std::string>());
  }
  return absl::OkStatus();
}

}  // namespace paceline
