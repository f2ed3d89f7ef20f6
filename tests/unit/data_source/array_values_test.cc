// Arrays that stay in their file.
#include "common/data_source/array_values.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/data_source/npy.h"
#include "common/data_source/npy_source.h"
#include "common/data_source/npz.h"
#include "common/data_source/npz_source.h"
#include "common/zip/zip_writer.h"
#include "glog/logging.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/data_source/idx_files.h"
#include "tests/unit/data_source/npy_files.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Nothing is held in memory.
constexpr int64_t kAllInFile = 0;

std::string StoredFixture() {
  return absl::StrCat(PACELINE_SOURCE_DIR,
                      "/tests/unit/data_source/fixtures/stored.npz");
}

// An archive with these arrays, not compressed.
std::string WriteStored(
    const std::vector<std::pair<std::string, std::string>>& arrays) {
  const std::string path = WriteTestFile("stored.npz", "");
  std::vector<ZipContent> members;
  for (const auto& [name, bytes] : arrays) {
    members.push_back(ZipText(name + ".npy", bytes));
  }
  CHECK(WriteZip(path, std::move(members)).ok());
  return path;
}

absl::StatusOr<ArrayValues> OpenStored(const std::string& path,
                                       const std::string& array) {
  const auto archive = NpzArchive::Open(path);
  if (!archive.ok()) return archive.status();
  return archive->OpenArray(array, kAllInFile);
}

// The bytes of all values, read from the last row to the first.
std::string BytesInFile(const ArrayValues& values) {
  EXPECT_TRUE(std::holds_alternative<ArrayInFile>(values));
  const int64_t rows = ShapeOf(values)[0];
  const int64_t size = NumElements(ShapeOf(values)) / rows;
  FileWindow window;
  std::string bytes;
  for (int64_t row = rows - 1; row >= 0; --row) {
    const auto read = ReadElements(values, row * size, size, window);
    CHECK(read.ok()) << read.status();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(read->data) % SizeOf(read->type), 0);
    bytes.insert(0, reinterpret_cast<const char*>(read->data),
                 read->count * SizeOf(read->type));
  }
  return bytes;
}

TEST(ArrayValuesTest, OfAnArchiveAreThoseThatAreReadWhole) {
  const auto archive = NpzArchive::Open(StoredFixture());
  ASSERT_TRUE(archive.ok()) << archive.status();
  for (const char* array :
       {"x", "y", "int8", "int16", "int32", "bool", "float32", "float64"}) {
    SCOPED_TRACE(array);
    const auto whole = archive->Read(array);
    ASSERT_TRUE(whole.ok()) << whole.status();
    const auto opened = archive->OpenArray(array, kAllInFile);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(TypeOf(*opened), whole->type);
    EXPECT_EQ(ShapeOf(*opened), whole->shape);
    EXPECT_EQ(BytesInFile(*opened),
              std::string(reinterpret_cast<const char*>(whole->data.get()),
                          NumElements(whole->shape) * SizeOf(whole->type)));
    EXPECT_TRUE(std::holds_alternative<StoredArray>(*archive->OpenArray(array)))
        << "it is small";
  }
}

TEST(ArrayValuesTest, OfCompressedFilesAreInMemory) {
  const auto archive = NpzArchive::Open(absl::StrCat(
      PACELINE_SOURCE_DIR, "/tests/unit/data_source/fixtures/deflated.npz"));
  ASSERT_TRUE(archive.ok()) << archive.status();
  const auto deflated = archive->OpenArray("x_train", kAllInFile);
  ASSERT_TRUE(deflated.ok()) << deflated.status();
  EXPECT_TRUE(std::holds_alternative<StoredArray>(*deflated));
  const auto gzip = OpenNpy(
      WriteTestFile("x.npy.gz", Gzip(NpyBytes("(2,)", "ab"))), kAllInFile);
  ASSERT_TRUE(gzip.ok()) << gzip.status();
  EXPECT_TRUE(std::holds_alternative<StoredArray>(*gzip));
}

// Values begin at an odd byte, which NumPy takes, too.
TEST(ArrayValuesTest, MayBeginAnywhere) {
  const std::vector<double> values = {1.5, -2, 3, 4};
  const std::string bytes(reinterpret_cast<const char*>(values.data()),
                          values.size() * sizeof(double));
  for (const char* shape : {"(4,)", "(4, )", "(4,  )"}) {
    const auto opened = OpenNpy(
        WriteTestFile("x.npy", NpyBytes(shape, bytes, "<f8")), kAllInFile);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(BytesInFile(*opened), bytes);
  }
}

TEST(ArrayValuesTest, RefuseTheDamageOfAStoredArray) {
  const std::string array = NpyBytes("(4,)", "abcd");
  const std::string path = WriteStored({{"w", "other"}, {"x", array}});
  std::string bytes = *ReadFile(path, 1 << 20);
  const size_t begin = bytes.find(array);
  bytes[begin + array.size() - 1] ^= 1;
  const absl::Status status =
      OpenStored(WriteTestFile("damaged.npz", bytes), "x").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("damaged.npz: x: damaged: the CRC-32 of the "),
                    HasSubstr(absl::StrCat(" bytes at byte ", begin, " is "))));
}

// Whatever a byte is changed to, there is the array or an error.
TEST(ArrayValuesTest, SurviveEveryChangedByte) {
  const std::string array = NpyBytes("(2,)", "ab");
  const std::string whole = *ReadFile(WriteStored({{"x", array}}), 1 << 20);
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int mask : {0x01, 0xFF}) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ mask);
      const auto opened = OpenStored(WriteTestFile("changed.npz", bytes), "x");
      if (!opened.ok()) continue;
      EXPECT_EQ(BytesInFile(*opened), "ab") << i;
    }
  }
}

TEST(ArrayValuesTest, NameTheFileAndThePlaceIfItIsCut) {
  const std::string bytes = NpyBytes("(4, 2)", "abcdefgh");
  const std::string path = WriteTestFile("x.npy", bytes);
  const auto opened = OpenNpy(path, kAllInFile);
  ASSERT_TRUE(opened.ok()) << opened.status();
  FileWindow window;
  ASSERT_TRUE(ReadElements(*opened, 0, 2, window).ok());
  std::filesystem::resize_file(path, bytes.size() - 3);
  const absl::Status status = ReadElements(*opened, 6, 2, window).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr(path + ": was written to while it was read"),
            HasSubstr(absl::StrCat("(at byte ", bytes.size() - 2, ")"))));
}

TEST(ArrayValuesTest, StayThoseOfAFileThatIsReplaced) {
  const std::string path = WriteTestFile("x.npy", NpyBytes("(2,)", "ab"));
  const auto opened = OpenNpy(path, kAllInFile);
  ASSERT_TRUE(opened.ok()) << opened.status();
  std::filesystem::remove(path);
  WriteTestFile("x.npy", NpyBytes("(2,)", "cd"));
  EXPECT_EQ(BytesInFile(*opened), "ab");
}

// A column of 20 MiB stays in its file, of the sources, too.
class LargeArrayTest : public testing::Test {
 protected:
  static constexpr int64_t kCount = (20 << 20) / sizeof(int32_t) / 4;

  LargeArrayTest() : values_(kCount * 4) {
    std::iota(values_.begin(), values_.end(), 0);
  }

  std::string Bytes() const {
    return NpyBytes(absl::StrCat("(", kCount, ", 4)"),
                    std::string(reinterpret_cast<const char*>(values_.data()),
                                values_.size() * sizeof(int32_t)),
                    "<i4");
  }
  std::string Labels() const {
    return NpyBytes(absl::StrCat("(", kCount, ",)"),
                    std::string(kCount, '\x01'));
  }

  static void ExpectExamples(const DataSource& source) {
    EXPECT_EQ(source.example_count(), kCount);
    const auto reader = *source.MakeReader();
    for (const int64_t index : {kCount - 1, int64_t{0}, int64_t{1}, int64_t{2},
                                kCount / 2, kCount / 2 + 1}) {
      const auto example = reader->Read(index);
      ASSERT_TRUE(example.ok()) << example.status();
      int32_t row[4] = {};
      std::memcpy(row, (*example)->features[0].data, sizeof(row));
      EXPECT_THAT(row, ElementsAre(4 * index, 4 * index + 1, 4 * index + 2,
                                   4 * index + 3));
      EXPECT_EQ(static_cast<int>((*example)->labels[0].data[0]), 1);
    }
  }

  std::vector<int32_t> values_;
};

// Opened before, readers notice that it is cut.
void ExpectNoticesCut(const DataSource& source, const std::string& path) {
  const auto reader = *source.MakeReader();
  ASSERT_TRUE(reader->Read(0).ok());
  std::filesystem::resize_file(path, 1000);
  const absl::Status status = reader->Read(source.example_count() - 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
}

TEST_F(LargeArrayTest, OfNpyStaysInItsFile) {
  NpySource source;
  const std::string path = WriteTestFile("large.npy", Bytes());
  source.features.entries[""].text = path;
  source.labels.entries[""].text = WriteTestFile("y.npy", Labels());
  const auto opened = OpenNpySource(source);
  ASSERT_TRUE(opened.ok()) << opened.status();
  ExpectExamples(**opened);
  ExpectNoticesCut(**opened, path);
}

TEST_F(LargeArrayTest, OfNpzStaysInTheArchive) {
  NpzSource source;
  source.file.text = WriteStored({{"x", Bytes()}, {"y", Labels()}});
  const auto opened = OpenNpzSource(source);
  ASSERT_TRUE(opened.ok()) << opened.status();
  ExpectExamples(**opened);
  ExpectNoticesCut(**opened, source.file.text);
}

TEST_F(LargeArrayTest, HasLabelsThatAreChecked) {
  std::fill(values_.begin(), values_.end(), 1);
  values_[3'000'001] = 7;
  NpySource source;
  source.features.entries[""].text = WriteTestFile("x.npy", Labels());
  source.labels.entries[""].text = WriteTestFile("large.npy", Bytes());
  const auto opened = OpenNpySource(source);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_TRUE((*opened)->CheckClassIds(0, {8}).ok());
  EXPECT_EQ((*opened)->CheckClassIds(0, {2}).message(),
            absl::StrCat(source.labels.entries[""].text,
                         ": label 3000001 is 7, expected a class id from 0 to "
                         "1"));
}

}  // namespace
}  // namespace paceline
