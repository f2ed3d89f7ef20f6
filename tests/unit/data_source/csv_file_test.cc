#include "common/data_source/csv_file.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/data_source/idx_files.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr CsvFormat kNoHeader = {',', false};

absl::StatusOr<CsvFile> OpenText(const std::string& text,
                                 const CsvFormat& format = {},
                                 size_t max_offsets = 64) {
  return CsvFile::Open(WriteTestFile("d.csv", text), format, max_offsets);
}

CsvCursor CursorFor(const CsvFile& file) {
  return {CsvWindow(',', file.max_row_bytes())};
}

// Writes in place, so that the file keeps its inode.
void Overwrite(const std::string& path, const std::string& text) {
  // The clock of a file system ticks only some hundred times a second.
  usleep(20'000);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

TEST(CsvFileTest, HasColumnsAndRows) {
  const auto file = OpenText(
      "\xef\xbb\xbf"
      "a,\"b,c\"\r\n1,2\r\n3,\"4\n\"\r\n\r\n\n");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(file->column_names(), ElementsAre("a", "b,c"));
  EXPECT_EQ(file->column_count(), 2);
  EXPECT_EQ(file->row_count(), 2);
  EXPECT_EQ(file->max_row_bytes(), 8);
  CsvCursor cursor = CursorFor(*file);
  EXPECT_EQ(*file->ReadRow(1, cursor), "3,\"4\n\"");
  EXPECT_EQ(*file->ReadRow(0, cursor), "1,2");
}

TEST(CsvFileTest, MayHaveNoHeader) {
  const auto file = OpenText("1,2\n3,4", kNoHeader);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(file->column_names(), IsEmpty());
  EXPECT_EQ(file->column_count(), 2);
  EXPECT_EQ(file->row_count(), 2);
}

// Rows of all sizes, across all the sizes of reads, with few offsets.
TEST(CsvFileTest, GivesRowsInAnyOrder) {
  std::mt19937 random(1);
  std::string text = "x,y\n";
  std::vector<std::string> rows;
  for (int i = 0; i < 3000; ++i) {
    const size_t size = i % 500 == 7 ? 100'000 : random() % 300;
    rows.push_back(i % 3 == 0
                       ? absl::StrCat("\"", std::string(size, '\n'), "\",2")
                       : absl::StrCat(std::string(size, 'x'), ",", i));
    absl::StrAppend(&text, rows.back(), i % 2 == 0 ? "\n" : "\r\n");
  }
  for (const size_t max_offsets : {2, 64, 4096}) {
    const auto file = OpenText(text, {}, max_offsets);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_EQ(file->row_count(), std::ssize(rows));
    CsvCursor cursor = CursorFor(*file);
    for (int i = 0; i < std::ssize(rows); ++i) {
      ASSERT_EQ(*file->ReadRow(i, cursor), rows[i]) << i;
    }
    for (int i = 0; i < 300; ++i) {
      const auto row = static_cast<int64_t>(random() % rows.size());
      ASSERT_EQ(*file->ReadRow(row, cursor), rows[row]) << row;
    }
  }
}

TEST(CsvFileTest, AnErrorOfARowHasItsLine) {
  const absl::Status error = absl::InvalidArgumentError("is wrong");
  const auto plain = *OpenText("a\n1\n2\n3\n");
  EXPECT_EQ(plain.Locate(error, 2).message(),
            absl::StrCat(plain.path(), ": line 4: is wrong"));
  const auto quoted = *OpenText("\"a\nb\"\n\"1\n\n\"\n2\n3\n");
  EXPECT_EQ(quoted.Locate(error, 2).message(),
            absl::StrCat(quoted.path(), ": line 7: is wrong"));
  EXPECT_EQ(quoted.Locate(absl::NotFoundError("x"), 2).message(), "x");
}

TEST(CsvFileTest, RefusesWhatIsMalformed) {
  const std::pair<std::string, std::string> cases[] = {
      {"", ": line 1: is empty, expected the names of the columns"},
      {"\n1\n", ": line 1: is empty, expected the names of the columns"},
      {"a,b\n", ": has no rows behind the header"},
      {"a,b\n\n\r\n", ": has no rows behind the header"},
      {"a,b\n1,2\n3\n4,5\n",
       ": line 3: the number of fields is 1, expected 2, as in the header"},
      {"a,b\n1,2\n3,4,5\n", ": line 3: the number of fields is 3, expected 2"},
      {"a,b\n1,2\n3",
       ": line 3: the number of fields is 1, expected 2, as in the header; "
       "the file may have been cut off"},
      {"a,b\n1,2\n\n3,4\n", ": line 3: is empty, expected a row"},
      {"a\n1\n\n\n3\n", ": line 3: is empty, expected a row"},
      {"a\n\"1\n2\"\n3\"\n", ": line 4: field 1: has a quote"},
      {"a\n1\n\"2\n3\n", ": line 3: field 1: the file ends within its quotes"},
      {"a,\"b", ": line 1: field 2: the file ends within its quotes"},
      {"a,\xff\n1,2\n",
       ": line 1: field 2: the name of the column is not UTF-8"},
      {std::string("a,\0\n1,2\n", 8),
       ": line 1: field 2: the name of the column"},
      {"\xff\xfe"
       "a",
       ": is UTF-16, expected CSV as plain text"},
      {"\x1f\x8b\x08", ": is compressed with gzip, expected CSV"},
      {"PK\x03\x04", ": is a zip archive"}};
  for (const auto& [text, message] : cases) {
    const absl::Status status = OpenText(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("d.csv" + message))
        << text;
  }
  EXPECT_THAT(std::string(OpenText("\n1\n", kNoHeader).status().message()),
              HasSubstr(": line 1: is empty, expected a row"));
  EXPECT_THAT(std::string(OpenText("1,2\n3\n", kNoHeader).status().message()),
              HasSubstr(": line 2: the number of fields is 1, expected 2, as "
                        "in the first row"));
  EXPECT_THAT(std::string(OpenText("", kNoHeader).status().message()),
              HasSubstr("d.csv: has no rows"));
}

TEST(CsvFileTest, LimitsTheLengthOfRows) {
  const std::string longest(kMaxCsvRowBytes - 1, '1');
  EXPECT_TRUE(OpenText(absl::StrCat("a\n", longest, "\n1\n")).ok());
  const std::string message =
      "d.csv: line 2: is longer than the limit of 1048576 bytes";
  for (const std::string& text :
       {absl::StrCat("a\n", longest, "2\n1\n"),
        absl::StrCat("a\n", longest, "23"),
        absl::StrCat("a\n\"", longest, "\n", longest, "\"\n")}) {
    EXPECT_THAT(std::string(OpenText(text).status().message()),
                HasSubstr(message));
  }
}

// A gigabyte, of which little is read.
TEST(CsvFileTest, AnEndlessLineIsRefusedAtOnce) {
  const std::string path = WriteTestFile("d.csv", "a\n");
  ASSERT_EQ(truncate(path.c_str(), int64_t{1} << 30), 0);
  EXPECT_THAT(std::string(CsvFile::Open(path, {}, 64).status().message()),
              HasSubstr("line 2: is longer"));
}

TEST(CsvFileTest, MustBeAFile) {
  EXPECT_EQ(CsvFile::Open("/none.csv", {}, 64).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(CsvFile::Open(testing::TempDir(), {}, 64).status().code(),
            absl::StatusCode::kInvalidArgument);
  const std::string pipe = WriteTestFile("pipe", "");
  ASSERT_EQ(unlink(pipe.c_str()), 0);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(CsvFile::Open(pipe, {}, 64).status().code(),
            absl::StatusCode::kInvalidArgument);
  unlink(pipe.c_str());
}

TEST(CsvFileTest, WhoeverReplacesOrRemovesItDisturbsNobody) {
  const auto file = *OpenText("a\n1\n2\n");
  const std::string other = WriteTestFile("other", "b\n7\n");
  CsvCursor cursor = CursorFor(file);
  EXPECT_EQ(*file.ReadRow(0, cursor), "1");
  std::filesystem::rename(other, file.path());
  EXPECT_EQ(*file.ReadRow(1, cursor), "2");
  std::filesystem::remove(file.path());
  CsvCursor again = CursorFor(file);
  EXPECT_EQ(*file.ReadRow(0, again), "1");
}

TEST(CsvFileTest, WhoeverWritesToItIsNoticed) {
  for (const std::string changed :
       {"a\n1\n3\n", "a\n1\n", "", "a\n1\n2\n3\n"}) {
    const auto file = *OpenText("a\n1\n2\n");
    Overwrite(file.path(), changed);
    CsvCursor cursor = CursorFor(file);
    const absl::Status status = file.ReadRow(1, cursor).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << changed;
    EXPECT_THAT(std::string(file.Locate(status, 1).message()),
                StartsWith(file.path() + ": was written to while it was read"));
  }
}

}  // namespace
}  // namespace paceline
