#include "common/data_source/csv_source.h"

#include <cstddef>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/config/path.h"
#include "common/config/suggestion.h"
#include "common/config/value.h"
#include "common/data_source/csv_data.h"
#include "common/data_source/csv_file.h"
#include "common/data_source/csv_layout.h"

namespace paceline {
namespace {

constexpr absl::string_view kDelimiters = ",;\t|: ";

using Names = std::vector<std::string>;

absl::Status CheckColumns(const ByName<CsvColumns>& arrays, bool header,
                          const Path& path) {
  for (const auto& [name, columns] : arrays.entries) {
    for (const CsvColumn& column : columns.columns) {
      if (column.has_number() != header) continue;
      const Path here = name.empty() ? path : path.Key(name);
      return header ? ConfigError(
                          here, absl::StrCat("expected names of columns, got "
                                             "the number ",
                                             column.number,
                                             ", which is for `header: false`"))
                    : ConfigError(here,
                                  absl::StrCat("with `header: false` columns "
                                               "have numbers, got ",
                                               Excerpt(column.name)));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckClasses(const CsvSource& source, const Path& path) {
  for (const auto& [labels, names] : source.classes->entries) {
    const Path here = labels.empty() ? path : path.Key(labels);
    if (!labels.empty() && source.labels.entries.count(labels) == 0) {
      Names known;
      for (const auto& [name, columns] : source.labels.entries) {
        if (!name.empty()) known.push_back(name);
      }
      return ConfigError(here, absl::StrCat("expected a name of `labels`",
                                            Suggestion(labels, known)));
    }
    if (names.empty()) return ConfigError(here, "expected names of classes");
    std::set<std::string> known;
    for (const std::string& name : names) {
      if (known.insert(name).second) continue;
      return ConfigError(here, absl::StrCat(Excerpt(name), " is there twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCsvSource(const CsvSource& source, const Path& path) {
  if (source.delimiter.size() != 1 ||
      kDelimiters.find(source.delimiter[0]) == absl::string_view::npos) {
    return ConfigError(path.Key("delimiter"),
                       absl::StrCat("must be one of , ; : | a tab or a space, "
                                    "got ",
                                    Excerpt(source.delimiter)));
  }
  if (source.features) {
    RETURN_IF_ERROR(
        CheckColumns(*source.features, source.header, path.Key("features")));
  }
  RETURN_IF_ERROR(
      CheckColumns(source.labels, source.header, path.Key("labels")));
  if (source.sample_weight) {
    RETURN_IF_ERROR(CheckColumns(*source.sample_weight, source.header,
                                 path.Key("sample_weight")));
  }
  if (!source.classes) return absl::OkStatus();
  return CheckClasses(source, path.Key("classes"));
}

absl::Status CheckSameColumns(const CsvFile& first, const CsvFile& file) {
  if (file.column_count() != first.column_count()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: line 1: the number of fields is %d, expected %d, as in %s",
        file.path(), file.column_count(), first.column_count(), first.path()));
  }
  for (size_t i = 0; i < file.column_names().size(); ++i) {
    if (file.column_names()[i] == first.column_names()[i]) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: line 1: field %d is %s, expected %s, as in %s",
                        file.path(), i + 1, Excerpt(file.column_names()[i]),
                        Excerpt(first.column_names()[i]), first.path()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<CsvFile>> OpenFiles(const SourceFiles& paths,
                                               const CsvFormat& format) {
  std::vector<CsvFile> files;
  const size_t offsets = paths.OffsetsOfEach();
  for (const FilePath& path : paths.files) {
    ASSIGN_OR_RETURN(CsvFile file, CsvFile::Open(path.text, format, offsets));
    if (!files.empty()) {
      RETURN_IF_ERROR(CheckSameColumns(files[0], file));
      file.ShareNames(files[0]);
    }
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

const FieldTable<CsvSource>& FieldsOf(const CsvSource*) {
  static const auto& table = *new FieldTable<CsvSource>(
      "csv",
      "Rows of CSV files as RFC 4180 has them, in UTF-8, read as they are "
      "needed. Columns are named as the header names them. A column is a "
      "number for each example; a list of columns an array.",
      {Required("file", &CsvSource::file,
                "The file, or several with the same header, whose rows follow "
                "each other."),
       Optional(
           "features", &CsvSource::features,
           "The columns of features; without, an array of all columns "
           "but those of labels and weights, in their order. For several "
           "inputs, a map from the model's Input layers to their columns."),
       Required("labels", &CsvSource::labels,
                "The column of labels, or a list of columns. For several "
                "outputs, a map from the model's output layers to their "
                "columns."),
       Optional("sample_weight", &CsvSource::sample_weight,
                "The column of how much each example counts in the losses. For "
                "several outputs, a map from the model's output layers to "
                "their columns, or one for all."),
       Optional("classes", &CsvSource::classes,
                "What labels say if they are no numbers, in the order of "
                "their class ids, from 0. For several outputs, a map from the "
                "model's output layers to lists."),
       Optional("missing", &CsvSource::missing,
                "The value of features that are missing; without, they are an "
                "error, as missing labels and weights are."),
       Optional("na", &CsvSource::na,
                "What fields say that are missing, such as `[NA, '?']`; those "
                "that say nothing are, too."),
       Optional("header", &CsvSource::header,
                "Whether the first row has the names of the columns. If not, "
                "columns are named by their numbers, from 0."),
       Optional("delimiter", &CsvSource::delimiter,
                "What separates fields: `,` `;` `:` `|` a tab or a space.")},
      [] { return CsvSource(); }, CheckCsvSource);
  return table;
}

absl::StatusOr<std::unique_ptr<const DataSource>> OpenCsvSource(
    const CsvSource& source, Contents contents) {
  const CsvFormat format = {source.delimiter[0], source.header};
  ASSIGN_OR_RETURN(std::vector<CsvFile> files, OpenFiles(source.file, format));
  ASSIGN_OR_RETURN(CsvLayout layout, MakeCsvLayout(source, files[0], contents));
  return std::make_unique<CsvData>(std::move(files), format, std::move(layout),
                                   source.na);
}

}  // namespace paceline
