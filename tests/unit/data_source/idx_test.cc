#include "common/data_source/idx.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
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

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

template <typename T>
std::vector<T> ValuesOf(const StoredArray& array) {
  std::vector<T> values(NumElements(array.shape));
  EXPECT_EQ(SizeOf(array.type), sizeof(T));
  std::memcpy(values.data(), array.data.get(), values.size() * sizeof(T));
  return values;
}

// Expects that ReadIdx refuses `bytes` with `code` and a message that names the
// file and each of `parts`.
template <typename... Parts>
void ExpectRefused(const std::string& bytes, absl::StatusCode code,
                   Parts... parts) {
  const std::string path = WriteTestFile("bad", bytes);
  const absl::Status status = ReadIdx(path).status();
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(path), HasSubstr(parts)...));
}

TEST(IdxTest, ReadsBytes) {
  const std::string path =
      WriteTestFile("a", IdxBytes(0x08, {2, 3}, "\x01\x02\x03\xfe\xff\x10"));
  const auto array = ReadIdx(path);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->type, ElementType::kUint8);
  EXPECT_THAT(array->shape, ElementsAre(2, 3));
  EXPECT_THAT(ValuesOf<uint8_t>(*array), ElementsAre(1, 2, 3, 254, 255, 16));
}

TEST(IdxTest, ReadsSignedBytes) {
  const auto array =
      ReadIdx(WriteTestFile("a", IdxBytes(0x09, {2}, "\xff\x7f")));
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_THAT(ValuesOf<int8_t>(*array), ElementsAre(-1, 127));
}

TEST(IdxTest, ReadsBigEndianIntegers) {
  const auto shorts = ReadIdx(WriteTestFile(
      "s", IdxBytes(0x0B, {2}, std::string("\x01\x02\xff\xfe", 4))));
  ASSERT_TRUE(shorts.ok()) << shorts.status();
  EXPECT_THAT(ValuesOf<int16_t>(*shorts), ElementsAre(0x0102, -2));
  const auto ints = ReadIdx(WriteTestFile(
      "i",
      IdxBytes(0x0C, {2}, std::string("\x00\x01\x02\x03\xff\xff\xff\xff", 8))));
  ASSERT_TRUE(ints.ok()) << ints.status();
  EXPECT_THAT(ValuesOf<int32_t>(*ints), ElementsAre(0x00010203, -1));
}

TEST(IdxTest, ReadsBigEndianFloats) {
  const auto floats = ReadIdx(WriteTestFile(
      "f",
      IdxBytes(0x0D, {2}, std::string("\x3f\x80\x00\x00\xc0\x20\x00\x00", 8))));
  ASSERT_TRUE(floats.ok()) << floats.status();
  EXPECT_THAT(ValuesOf<float>(*floats), ElementsAre(1.0f, -2.5f));
  const auto doubles = ReadIdx(WriteTestFile(
      "d",
      IdxBytes(0x0E, {1}, std::string("\x3f\xf8\x00\x00\x00\x00\x00\x00", 8))));
  ASSERT_TRUE(doubles.ok()) << doubles.status();
  EXPECT_THAT(ValuesOf<double>(*doubles), ElementsAre(1.5));
}

TEST(IdxTest, ReadsGzip) {
  const std::string path =
      WriteTestFile("a.gz", Gzip(IdxBytes(0x08, {3}, "abc")));
  const auto array = ReadIdx(path);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_THAT(ValuesOf<char>(*array), ElementsAre('a', 'b', 'c'));
}

TEST(IdxTest, ReadsHeaderOfAFileWithoutValues) {
  const auto header =
      ReadIdxHeader(WriteTestFile("a", IdxBytes(0x08, {60000, 28, 28}, "")));
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_THAT(header->shape, ElementsAre(60000, 28, 28));
}

TEST(IdxTest, RefusesAMissingFile) {
  const absl::Status status = ReadIdx("/nowhere/train-images").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("/nowhere/train-images"));
}

TEST(IdxTest, RefusesADirectory) {
  const absl::Status status = ReadIdx(testing::TempDir()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr(testing::TempDir() + ": is a folder, expected a regular file"));
}

// Nobody writes into the pipe, so opening it would block.
TEST(IdxTest, RefusesAPipe) {
  const std::string pipe = WriteTestFile("pipe", "");
  ASSERT_EQ(unlink(pipe.c_str()), 0);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const absl::Status& status :
       {ReadIdx(pipe).status(), ReadIdxHeader(pipe).status(),
        OpenIdxRows(pipe, RowOrder::kOnce).status()}) {
    EXPECT_EQ(status, absl::InvalidArgumentError(
                          pipe + ": is a pipe, expected a regular file"));
  }
  unlink(pipe.c_str());
}

// A file with holes, as large as it says.
TEST(IdxTest, RefusesMoreThanTheMachineHolds) {
  const std::string path =
      WriteTestFile("holes", IdxBytes(0x08, {1 << 20, 1 << 19}, ""));
  constexpr int64_t kHeaderBytes = 12;
  if (truncate(path.c_str(), (int64_t{1} << 39) + kHeaderBytes) != 0) {
    GTEST_SKIP() << "no file system for large files";
  }
  const absl::Status status = ReadIdx(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(path), HasSubstr("takes 549755813888 bytes, "
                                               "expected at most the ")));
  unlink(path.c_str());
}

TEST(IdxTest, RefusesABadMagicNumber) {
  ExpectRefused("\x89PNG\r\n", absl::StatusCode::kInvalidArgument, "0x89504e47",
                "magic number");
}

TEST(IdxTest, RefusesAnUnknownType) {
  ExpectRefused(IdxBytes(0x0A, {1}, "x"), absl::StatusCode::kInvalidArgument,
                "element type", "0x0a", "0x08 (uint8)");
}

TEST(IdxTest, RefusesABadNumberOfDimensions) {
  ExpectRefused(IdxBytes(0x08, {}, "x"), absl::StatusCode::kInvalidArgument,
                "number of dimensions is 0");
  ExpectRefused(IdxBytes(0x08, std::vector<uint32_t>(9, 1), "x"),
                absl::StatusCode::kInvalidArgument,
                "number of dimensions is 9");
}

TEST(IdxTest, RefusesAnEmptyDimension) {
  ExpectRefused(IdxBytes(0x08, {4, 0}, ""), absl::StatusCode::kInvalidArgument,
                "dimension 1 is 0");
}

TEST(IdxTest, RefusesTruncatedFiles) {
  const std::string whole = IdxBytes(0x08, {2, 3}, "abcdef");
  ExpectRefused(whole.substr(0, 0), absl::StatusCode::kDataLoss,
                "0 of 4 bytes of the magic number");
  ExpectRefused(whole.substr(0, 9), absl::StatusCode::kDataLoss,
                "5 of 8 bytes of the dimensions");
  ExpectRefused(whole.substr(0, 16), absl::StatusCode::kDataLoss,
                "4 of 6 bytes of the values");
}

TEST(IdxTest, RefusesTrailingBytes) {
  ExpectRefused(IdxBytes(0x08, {2}, "abc"), absl::StatusCode::kInvalidArgument,
                "bytes after the 2");
}

TEST(IdxTest, RefusesADeclaredSizeTheFileCannotHold) {
  ExpectRefused(IdxBytes(0x08, {4000000000, 100}, "ab"),
                absl::StatusCode::kDataLoss, "(4000000000, 100)",
                "400000000000 bytes");
}

TEST(IdxTest, RefusesMoreElementsThanTheLimit) {
  ExpectRefused(IdxBytes(0x08, {4000000000, 4000000000}, "ab"),
                absl::StatusCode::kInvalidArgument, "dimension 1",
                "4000000000");
}

TEST(IdxTest, RefusesMoreBytesThanTheLimit) {
  ExpectRefused(IdxBytes(0x0E, {1 << 20, 1 << 19}, "ab"),
                absl::StatusCode::kInvalidArgument, "(1048576, 524288)");
}

TEST(IdxTest, RefusesTruncatedGzip) {
  const std::string whole = Gzip(IdxBytes(0x08, {6}, "abcdef"));
  for (const size_t cut : {1, 8, 12}) {
    ExpectRefused(whole.substr(0, whole.size() - cut),
                  absl::StatusCode::kDataLoss,
                  absl::StrCat("truncated at byte ", whole.size() - cut));
  }
}

TEST(IdxTest, RefusesDamagedGzip) {
  std::string bytes = Gzip(IdxBytes(0x08, {6}, "abcdef"));
  bytes[bytes.size() - 8] ^= 1;  // of the checksum
  ExpectRefused(bytes, absl::StatusCode::kDataLoss,
                absl::StrCat("damaged before byte ", bytes.size() - 4,
                             ": incorrect data check"));
}

std::string TextOf(const Elements& row) {
  return std::string(reinterpret_cast<const char*>(row.data),
                     row.count * SizeOf(row.type));
}

TEST(IdxRowsTest, AreReadInOrderAndOutOfIt) {
  const std::string bytes = IdxBytes(0x08, {5, 1, 2}, "aabbccddee");
  for (const std::string& path :
       {WriteTestFile("plain", bytes), WriteTestFile("gz", Gzip(bytes))}) {
    auto rows = OpenIdxRows(path, RowOrder::kAny);
    ASSERT_TRUE(rows.ok()) << rows.status();
    EXPECT_THAT(rows->shape(), ElementsAre(5, 1, 2));
    for (const int index : {0, 1, 3, 4, 0, 4, 2, 3, 1, 1}) {
      const auto row = rows->Read(index);
      ASSERT_TRUE(row.ok()) << row.status();
      EXPECT_EQ(row->type, ElementType::kUint8);
      EXPECT_EQ(TextOf(*row), std::string(2, static_cast<char>('a' + index)));
    }
  }
}

TEST(IdxRowsTest, AreInTheByteOrderOfTheMachine) {
  auto rows = OpenIdxRows(
      WriteTestFile("i", IdxBytes(0x0C, {2},
                                  std::string("\x00\x01\x02\x03\xff\xff\xff"
                                              "\xfe",
                                              8))),
      RowOrder::kAny);
  ASSERT_TRUE(rows.ok()) << rows.status();
  const auto value = [&rows](int64_t index) {
    int32_t value = 0;
    std::memcpy(&value, rows->Read(index)->data, sizeof(value));
    return value;
  };
  EXPECT_EQ(value(1), -2);
  EXPECT_EQ(value(0), 0x00010203);
}

// What a file is too small for is found as it is opened, if it is plain.
TEST(IdxRowsTest, RefusesTruncatedFiles) {
  const std::string bytes = IdxBytes(0x08, {3, 4}, "aaaabbbbcc");
  EXPECT_EQ(
      OpenIdxRows(WriteTestFile("plain", bytes.substr(0, 18)), RowOrder::kAny)
          .status()
          .code(),
      absl::StatusCode::kDataLoss);
  const std::string path = WriteTestFile("gz", Gzip(bytes));
  auto rows = OpenIdxRows(path, RowOrder::kAny);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_TRUE(rows->Read(1).ok());
  EXPECT_EQ(rows->Read(2).status(),
            absl::DataLossError(path + ": truncated: 2 of 4 bytes of the row"));
  EXPECT_EQ(TextOf(*rows->Read(0)), "aaaa") << "reads on after an error";
}

// The file claims more than 2 GiB, and its size does not belie it.
TEST(IdxRowsTest, RefusesCompressedFilesThatTakeLongToGoThrough) {
  std::minstd_rand random(1);
  std::string noise(2'200'000, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  const std::string path =
      WriteTestFile("gz", Gzip(IdxBytes(0x08, {2049, 1 << 20}, noise)));
  EXPECT_EQ(OpenIdxRows(path, RowOrder::kAny).status(),
            absl::InvalidArgumentError(
                path +
                ": a stream of a compressed file of 2148532224 bytes of values "
                "takes too long to go to an example; expected at most "
                "2147483648, or a file that is not compressed"));
  EXPECT_TRUE(OpenIdxRows(path, RowOrder::kOnce).ok());
}

// A row of 64 GiB, none of which is on disk.
TEST(IdxRowsTest, AllocatesNoRowBeforeOneIsRead) {
  const std::string path =
      WriteTestFile("sparse", IdxBytes(0x08, {1, 1 << 16, 1 << 20}, ""));
  std::filesystem::resize_file(path, 16 + (int64_t{1} << 36));
  const auto rows = OpenIdxRows(path, RowOrder::kAny);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(rows->shape(), ElementsAre(1, 1 << 16, 1 << 20));
}

TEST(IdxRowsTest, ComparesTheChecksumAtTheEnd) {
  // Far more than zlib reads ahead.
  constexpr int kRow = 1 << 20;
  std::string bytes =
      Gzip(IdxBytes(0x08, {2, kRow}, std::string(2 * kRow, 'a')));
  bytes[bytes.size() - 6] ^= 1;
  const std::string path = WriteTestFile("gz", bytes);
  auto rows = OpenIdxRows(path, RowOrder::kAny);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_TRUE(rows->Read(0).ok());
  const absl::Status status = rows->Read(1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(path), HasSubstr("damaged")));
}

TEST(IdxRowsTest, RefusesBytesAfterTheValues) {
  const std::string bytes = IdxBytes(0x08, {2, 2}, "aabbc");
  const auto expect = [](const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("there are bytes after the 4"));
  };
  expect(OpenIdxRows(WriteTestFile("long", bytes), RowOrder::kAny).status());
  auto rows = OpenIdxRows(WriteTestFile("gz", Gzip(bytes)), RowOrder::kAny);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_TRUE(rows->Read(0).ok());
  expect(rows->Read(1).status());
}

}  // namespace
}  // namespace paceline
