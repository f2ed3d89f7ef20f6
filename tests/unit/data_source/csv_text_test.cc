#include "common/data_source/csv_text.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/data_source/csv_number.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

std::vector<std::string> FieldsOfRow(const CsvRow& row, char delimiter = ',') {
  std::vector<std::string> values;
  std::string scratch;
  for (CsvFields fields(row.text, delimiter); !fields.is_done();) {
    values.emplace_back(UnquotedCsv(fields.Next(), scratch));
  }
  EXPECT_EQ(std::ssize(values), row.field_count);
  return values;
}

// All rows of a whole file.
std::vector<std::vector<std::string>> Rows(absl::string_view text) {
  std::vector<std::vector<std::string>> rows;
  while (!text.empty()) {
    const auto row = ScanCsvRow(text, ',', /*is_end=*/true);
    if (!row.ok() || !*row) {
      ADD_FAILURE() << row.status() << ": " << text;
      break;
    }
    rows.push_back(FieldsOfRow(**row));
    text.remove_prefix((*row)->size_bytes);
  }
  return rows;
}

TEST(CsvTextTest, HasFieldsAndRows) {
  EXPECT_THAT(Rows("a,b\n1,2\n"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2")));
  EXPECT_THAT(Rows("a,b\r\n1,2"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2")));
  EXPECT_THAT(Rows("a,b\r"), ElementsAre(ElementsAre("a", "b")));
  EXPECT_THAT(Rows(",\n\n,,"), ElementsAre(ElementsAre("", ""), ElementsAre(""),
                                           ElementsAre("", "", "")));
  EXPECT_THAT(Rows(" a\rb ,\tc\n"), ElementsAre(ElementsAre(" a\rb ", "\tc")));
}

TEST(CsvTextTest, QuotedFieldsHaveDelimitersLineEndsAndQuotes) {
  EXPECT_THAT(Rows("\"a,b\",\"c\r\nd\"\n1,\"\"\r\n"),
              ElementsAre(ElementsAre("a,b", "c\r\nd"), ElementsAre("1", "")));
  EXPECT_THAT(Rows("\"\"\"\",\"a\"\"b\"\"\",\"\"\"c\""),
              ElementsAre(ElementsAre("\"", "a\"b\"", "\"c")));
  EXPECT_THAT(Rows("1,\"a\"\r"), ElementsAre(ElementsAre("1", "a")));
  const auto row = *ScanCsvRow("\"a\n\nb\",c\nd", ',', false);
  EXPECT_EQ(row->line_count, 3);
  EXPECT_EQ(row->size_bytes, 9);
}

TEST(CsvTextTest, MalformedFieldsAreNamed) {
  const std::pair<std::string, std::string> cases[] = {
      {"a,b\"c\n", "field 2: has a quote, but does not begin with one"},
      {"a, \"b\"\n", "field 2: has a quote"},
      {"\"a\"b,c\n", "field 1: goes on behind its closing quote"},
      {"\"a\"\rb\n", "field 1: goes on behind its closing quote"},
      {"a,b,\"c\nd,e\n", "field 3: the file ends within its quotes"},
      {"\"", "field 1: the file ends within its quotes"},
      {"\"a\"\"", "field 1: the file ends within its quotes"}};
  for (const auto& [text, message] : cases) {
    const absl::Status status = ScanCsvRow(text, ',', true).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message)) << text;
  }
}

// Wherever the part of the file that is in memory ends.
TEST(CsvTextTest, ARowIsTheSameOnceItIsWhole) {
  for (const std::string whole :
       {"1,2\n", "1,2\r\n", "\"a\"\"b\"\r\n", "\"\",\"\n\"\n", ",\"\"\"\"\n"}) {
    const std::string text = absl::StrCat(whole, "next,row\n");
    const auto expected = *ScanCsvRow(text, ',', true);
    ASSERT_TRUE(expected);
    EXPECT_EQ(expected->size_bytes, whole.size());
    for (size_t size = 0; size <= text.size(); ++size) {
      const auto row =
          ScanCsvRow(absl::string_view(text).substr(0, size), ',', false);
      ASSERT_TRUE(row.ok()) << whole << size << row.status();
      if (size < whole.size()) {
        EXPECT_FALSE(*row) << whole << size;
      } else if (size > whole.size()) {
        ASSERT_TRUE(*row) << whole << size;
      }
      if (*row) {
        EXPECT_EQ(FieldsOfRow(**row), FieldsOfRow(*expected));
      }
    }
  }
}

TEST(CsvNumberTest, AreDecimalNumbers) {
  const std::pair<std::string, double> cases[] = {
      {"0", 0},
      {"-0", -0.0},
      {"255", 255},
      {"+7", 7},
      {"5.1", 5.1},
      {".5", 0.5},
      {"5.", 5},
      {"-1.25e-3", -1.25e-3},
      {"1E5", 1e5},
      {" 3\t", 3},
      {"16777217", 16777217},
      {"9007199254740993", 9007199254740992},
      {"0.1234567890123456789", 0.1234567890123456789},
      {"123456789012345", 123456789012345},
      {"0.000000000000001", 1e-15},
      {"3.4028234663852886e38", 3.4028234663852886e38},
      {"1e-400", 0}};
  for (const auto& [text, number] : cases) {
    const std::optional<double> parsed = ParseCsvNumber(text);
    EXPECT_THAT(parsed, Optional(number)) << text;
    EXPECT_EQ(std::signbit(parsed.value_or(0)), std::signbit(number)) << text;
    double read = 0;
    if (ReadShortNumber(text, read) == text.size()) {
      EXPECT_EQ(read, number);
    }
  }
}

TEST(CsvNumberTest, OthersAreRefused) {
  for (const std::string text :
       {"",          " ",     "-",     "+",      ".",   "+-1",   "--1",  "1 2",
        "1,5",       "0x10",  "1e",    "e5",     "nan", "NaN",   "-nan", "inf",
        "-Infinity", "1e999", "-1e39", "3.5e38", "1d5", "1_000", "\xff"}) {
    EXPECT_FALSE(ParseCsvNumber(text)) << text;
    double read = 0;
    EXPECT_TRUE(text.empty() || ReadShortNumber(text, read) != text.size())
        << text;
  }
  EXPECT_FALSE(ParseCsvNumber(absl::string_view("1\0", 2)));
}

TEST(CsvNumberTest, AShortNumberIsThatOfTheWholeText) {
  double number = 0;
  EXPECT_EQ(ReadShortNumber("-12.5,3", number), 5);
  EXPECT_EQ(number, -12.5);
  EXPECT_EQ(ReadShortNumber("1234567890123456", number), 0);
  // Each of the form that most have is rounded as the general ones are.
  for (int64_t digits = 1; digits < 1'000'000'000'000'000;
       digits = 7 * digits + 3) {
    for (int point = 0; point <= 15; ++point) {
      std::string text = absl::StrCat(digits);
      if (point > std::ssize(text)) break;
      text.insert(text.size() - point, ".");
      ASSERT_EQ(ReadShortNumber(text, number), text.size());
      ASSERT_THAT(ParseCsvNumber(text), Optional(number)) << text;
    }
  }
}

}  // namespace
}  // namespace paceline
