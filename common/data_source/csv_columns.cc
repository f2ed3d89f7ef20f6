#include "common/data_source/csv_columns.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/config/codec.h"
#include "common/config/suggestion.h"

namespace paceline {
namespace {

absl::Status ReadColumn(const Value& value, const Path& path, CsvColumn& out) {
  if (value.is_string()) {
    out.name = value.as_string();
    return absl::OkStatus();
  }
  const bool is_number = value.is_number() &&
                         Codec<int64_t>::Read(value, path, out.number).ok() &&
                         out.number >= 0;
  if (is_number) return absl::OkStatus();
  return WrongType(value, path,
                   "the name of a column, or its number from 0 on");
}

Value WriteColumn(const CsvColumn& column) {
  return column.has_number() ? Value(column.number) : Value(column.name);
}

// What the file has instead of a column: a similar name, or some of its names;
// to be appended.
std::string OtherColumns(const CsvFile& file, const std::string& name) {
  constexpr size_t kMaxListed = 10;
  const std::vector<std::string>& names = file.column_names();
  const std::string meant = DidYouMean(name, names);
  if (!meant.empty()) return meant;
  const auto quote = [](std::string* out, const std::string& each) {
    out->append(Excerpt(each));
  };
  const size_t listed = std::min(names.size(), kMaxListed);
  return absl::StrCat(
      "; known: ",
      absl::StrJoin(names.begin(), names.begin() + listed, ", ", quote),
      listed < names.size()
          ? absl::StrCat(" and ", names.size() - listed, " more")
          : "");
}

}  // namespace

absl::Status ReadConfig(const Value& value, const Path& path, CsvColumns& out) {
  out = CsvColumns();
  out.is_list = value.is_list();
  if (!value.is_list()) {
    return ReadColumn(value, path, out.columns.emplace_back());
  }
  if (value.as_list().empty()) {
    return ConfigError(path, "the list is empty, expected columns");
  }
  for (size_t i = 0; i < value.as_list().size(); ++i) {
    RETURN_IF_ERROR(ReadColumn(value.as_list()[i], path.Index(i),
                               out.columns.emplace_back()));
  }
  return absl::OkStatus();
}

Value WriteConfig(const CsvColumns& columns) {
  if (!columns.is_list) return WriteColumn(columns.columns.front());
  Value::List list;
  for (const CsvColumn& column : columns.columns) {
    list.push_back(WriteColumn(column));
  }
  return list;
}

std::string ConfigType(const CsvColumns*) {
  return "column or list of columns";
}

CsvColumnFinder::CsvColumnFinder(const CsvFile& file) : file_(file) {
  int64_t index = 0;
  for (const std::string& name : file.column_names()) {
    const auto [entry, is_new] = by_name_.emplace(name, index++);
    if (!is_new) entry->second = kSeveral;
  }
}

absl::StatusOr<int64_t> CsvColumnFinder::Find(const CsvColumn& column) const {
  if (column.has_number()) {
    if (column.number < file_.column_count()) return column.number;
    return absl::NotFoundError(
        absl::StrFormat("%s: there is no column %d, expected one from 0 to %d",
                        file_.path(), column.number, file_.column_count() - 1));
  }
  const auto found = by_name_.find(column.name);
  if (found == by_name_.end()) {
    return absl::NotFoundError(absl::StrFormat(
        "%s: line 1: there is no column %s%s", file_.path(),
        Excerpt(column.name), OtherColumns(file_, column.name)));
  }
  if (found->second != kSeveral) return found->second;
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: line 1: there are several columns %s, expected one",
                      file_.path(), Excerpt(column.name)));
}

std::string DescribeColumn(const CsvFile& file, int64_t column) {
  if (file.column_names().empty()) return absl::StrCat("column ", column);
  return absl::StrCat(
      "column ", Excerpt(file.column_names()[static_cast<size_t>(column)]));
}

}  // namespace paceline
