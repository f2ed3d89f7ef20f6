// A CSV file, after a byte that says its delimiter and whether it has a header.
#include <glog/logging.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/data_source/csv_decoder.h"
#include "common/data_source/csv_file.h"
#include "common/data_source/csv_number.h"
#include "common/data_source/csv_text.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {
namespace {

CsvCursor CursorFor(const CsvFile& file, const CsvFormat& format) {
  return {CsvWindow(format.delimiter, file.max_row_bytes())};
}

// Each field is a text, and a short number is the number of the whole text.
void CheckFields(absl::string_view row, const CsvFormat& format,
                 int64_t expected_count) {
  std::string scratch;
  int64_t count = 0;
  for (CsvFields fields(row, format.delimiter); !fields.is_done(); ++count) {
    const absl::string_view text = UnquotedCsv(fields.Next(), scratch);
    double number = 0;
    if (ReadShortNumber(text, number) != text.size() || text.empty()) continue;
    CHECK(ParseCsvNumber(text) == number) << text;
  }
  CHECK_EQ(count, expected_count);
}

// All columns, as numbers and as classes.
CsvDecoder DecoderOf(const CsvFile& file, const CsvFormat& format,
                     const CsvClasses& classes) {
  std::vector<CsvValue> values;
  for (int64_t column = 0; column < file.column_count(); ++column) {
    values.push_back({column, "column", nullptr, 0.5});
    values.push_back({column, "column", &classes, -1});
  }
  return CsvDecoder(format.delimiter, std::move(values), {"NA", "-1"});
}

}  // namespace

void Fuzz(FuzzInput input) {
  CsvFormat format;
  const uint32_t choice = input.Below(8);
  format.has_header = choice % 2 == 0;
  format.delimiter = ",;\t "[choice / 2];
  const auto file = CsvFile::Open(PathOf(input.rest()), format, 4);
  if (!file.ok()) return;
  CHECK_GE(file->row_count(), 1);
  CHECK(!format.has_header ||
        std::ssize(file->column_names()) == file->column_count());

  const CsvClasses classes = {{"setosa", 0}, {"a\"b", 1}};
  const CsvDecoder decoder = DecoderOf(*file, format, classes);
  std::vector<double> values(2 * file->column_count());
  std::string scratch;
  CsvCursor forwards = CursorFor(*file, format);
  CsvCursor backwards = CursorFor(*file, format);
  const int64_t rows = file->row_count();
  for (int64_t i = 0; i < rows; ++i) {
    const auto row = file->ReadRow(i, forwards);
    CHECK(row.ok()) << row.status();
    CheckFields(*row, format, file->column_count());
    const absl::Status status = decoder.Decode(*row, scratch, values.data());
    if (!status.ok()) CHECK(!file->Locate(status, i).ok());
    // Of large files not all: each jump reads anew.
    if (rows > 100 && i % 16 != 0) continue;
    const int64_t mirrored = rows - 1 - i;
    const auto other = file->ReadRow(mirrored, backwards);
    CHECK(other.ok()) << other.status();
    CsvCursor fresh = CursorFor(*file, format);
    CHECK(*file->ReadRow(mirrored, fresh) == *other);
  }
}

}  // namespace paceline
