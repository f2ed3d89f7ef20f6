#include "common/tfrecord/tfrecord_file.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tfrecord_builder.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// So few that only some records' offsets are kept.
constexpr size_t kOffsets = 4;

class TfrecordFileTest : public testing::Test {
 protected:
  TfrecordFileTest()
      : path_(absl::StrCat(testing::TempDir(), "tfrecord_file_test.",
                           getpid())) {}
  ~TfrecordFileTest() override { std::filesystem::remove(path_); }

  void Write(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  absl::Status OpenError(const std::string& bytes) {
    Write(bytes);
    return TfrecordFile::Open(path_, kOffsets).status();
  }

  const std::string path_;
};

TEST_F(TfrecordFileTest, ReadsRecordsInAnyOrder) {
  // Some fill more than a window of headers.
  std::vector<std::string> contents;
  for (const size_t size : {3, 0, 70'000, 200'000, 5, 66'000, 1}) {
    contents.push_back(std::string(size, static_cast<char>('a' + size % 26)));
  }
  std::string bytes;
  for (const std::string& content : contents) bytes += Record(content);
  Write(bytes);
  const auto file = TfrecordFile::Open(path_, kOffsets);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->record_count(), 7);
  FileWindow window;
  for (const int64_t index : {6, 2, 0, 3, 1, 5, 4}) {
    const auto read = file->Read(index, window);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->content, contents[index]);
  }
}

TEST_F(TfrecordFileTest, ReadsManySmallRecords) {
  std::string bytes;
  for (int i = 0; i < 10'000; ++i) bytes += Record(std::to_string(i));
  Write(bytes);
  const auto file = TfrecordFile::Open(path_, kOffsets);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->record_count(), 10'000);
  FileWindow window;
  for (const int64_t index : {0, 4'095, 4'096, 9'999}) {
    EXPECT_EQ(file->Read(index, window)->content, std::to_string(index));
  }
}

TEST_F(TfrecordFileTest, MayHaveNoRecord) {
  Write("");
  const auto file = TfrecordFile::Open(path_, kOffsets);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->record_count(), 0);
}

TEST_F(TfrecordFileTest, RefusesDamagedFiles) {
  const std::string first = Record("first");
  const std::string second = Record("second");
  // Cut anywhere within the second record.
  for (size_t size = 1; size < second.size(); ++size) {
    const absl::Status error = OpenError(first + second.substr(0, size));
    EXPECT_TRUE(absl::IsDataLoss(error)) << size;
    EXPECT_THAT(error.message(),
                HasSubstr("record 1, at byte 21: the file ends within it"));
  }
  EXPECT_THAT(OpenError("This is a text, and no record at all.").message(),
              AllOf(HasSubstr(path_), HasSubstr("record 0, at byte 0"),
                    HasSubstr("expected a file of TFRecords")));
  std::string flipped = first + second;
  flipped[21] ^= 1;
  EXPECT_THAT(OpenError(flipped).message(),
              HasSubstr("record 1, at byte 21: the checksum of its size"));
  EXPECT_THAT(OpenError("\x1f\x8b\x08 and so on, compressed").message(),
              HasSubstr("compressed by gzip"));
  const std::string huge = LittleEndian(uint64_t{1} << 63, 8);
  const absl::Status error = OpenError(huge + MaskedChecksum(huge) + first);
  EXPECT_TRUE(absl::IsInvalidArgument(error));
  EXPECT_THAT(error.message(), HasSubstr("expected at most 268435456"));
}

TEST_F(TfrecordFileTest, RefusesDamagedContents) {
  std::string bytes = Record("first") + Record("second");
  bytes[12] ^= 1;
  Write(bytes);
  const auto file = TfrecordFile::Open(path_, kOffsets);
  ASSERT_TRUE(file.ok()) << file.status();
  FileWindow window;
  const auto read = file->Read(0, window);
  EXPECT_TRUE(absl::IsDataLoss(read.status()));
  EXPECT_THAT(read.status().message(),
              HasSubstr("record 0, at byte 0: the checksum of its content"));
  EXPECT_EQ(file->Read(1, window)->content, "second");
}

TEST_F(TfrecordFileTest, NoticesChanges) {
  Write(Record("first") + Record("second"));
  const auto file = TfrecordFile::Open(path_, kOffsets);
  ASSERT_TRUE(file.ok()) << file.status();
  // The clock of a file system ticks only some hundred times a second.
  usleep(20'000);
  Write(Record("other") + Record("length"));
  FileWindow window;
  EXPECT_THAT(file->Read(1, window).status().message(),
              HasSubstr("was written to while it was read"));
}

}  // namespace
}  // namespace paceline
