#include "common/data_source/npz.h"

#include <zip.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/data_source/npz_source.h"
#include "glog/logging.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/data_source/idx_files.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kDataLoss = absl::StatusCode::kDataLoss;

// What NumPy wrote: fixtures/make_npz.py.
std::string Fixture(const std::string& name) {
  return absl::StrCat(PACELINE_SOURCE_DIR, "/tests/unit/data_source/fixtures/",
                      name, ".npz");
}

template <typename T>
std::vector<T> Values(const StoredArray& array) {
  std::vector<T> values(NumElements(array.shape));
  CHECK_EQ(SizeOf(array.type), sizeof(T));
  std::memcpy(values.data(), array.data.get(), values.size() * sizeof(T));
  return values;
}

// The bytes of an array: version 1 with this header.
std::string Npy(const std::string& header, const std::string& values) {
  const auto size = static_cast<uint16_t>(header.size());
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes.push_back(static_cast<char>(size & 0xFF));
  bytes.push_back(static_cast<char>(size >> 8));
  return bytes + header + values;
}

std::string Header(const std::string& shape, const std::string& descr = "|u1") {
  return absl::StrCat("{'descr': '", descr,
                      "', 'fortran_order': False, 'shape': ", shape, ", }\n");
}

// An archive with these entries, and its path.
std::string WriteEntries(
    const std::vector<std::pair<std::string, std::string>>& entries,
    int method = ZIP_CM_STORE, bool is_encrypted = false) {
  std::string path = WriteTestFile("npz", "");
  int error = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error);
  CHECK(archive != nullptr) << error;
  for (const auto& [name, bytes] : entries) {
    zip_source_t* source =
        zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, 0);
    CHECK_GE(index, 0);
    CHECK_EQ(zip_set_file_compression(archive, index, method, 0), 0);
    if (is_encrypted) {
      CHECK_EQ(zip_file_set_encryption(archive, index, ZIP_EM_TRAD_PKWARE, "p"),
               0);
    }
  }
  CHECK_EQ(zip_close(archive), 0);
  return path;
}

// An archive with one array "x" of these bytes, and its path.
std::string WriteNpz(const std::string& bytes, int method = ZIP_CM_STORE,
                     bool is_encrypted = false) {
  return WriteEntries({{"x.npy", bytes}}, method, is_encrypted);
}

std::string ReadBytes(const std::string& path) {
  return *ReadFile(path, 1 << 20);
}

absl::StatusOr<StoredArray> ReadNpz(const std::string& path,
                                    const std::string& array) {
  ASSIGN_OR_RETURN(const NpzArchive archive, NpzArchive::Open(path));
  return archive.Read(array);
}

void ExpectRefused(const std::string& path, const std::string& array,
                   absl::StatusCode code, const std::string& message) {
  const absl::Status status = ReadNpz(path, array).status();
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(path), HasSubstr(message)));
}

TEST(NpzTest, ReadsEveryTypeThatNumpyStored) {
  const std::string path = Fixture("stored");
  const auto bytes = ReadNpz(path, "x");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(bytes->type, ElementType::kUint8);
  EXPECT_THAT(bytes->shape, ElementsAre(3, 2, 2));
  EXPECT_THAT(Values<uint8_t>(*bytes),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(Values<int64_t>(*ReadNpz(path, "y")),
              ElementsAre(2, 0, int64_t{1} << 40));
  EXPECT_THAT(Values<int8_t>(*ReadNpz(path, "int8")), ElementsAre(-1, 2));
  EXPECT_THAT(Values<int16_t>(*ReadNpz(path, "int16")), ElementsAre(-300, 2));
  EXPECT_THAT(Values<int32_t>(*ReadNpz(path, "int32")), ElementsAre(-70000, 2));
  EXPECT_EQ(ReadNpz(path, "bool")->type, ElementType::kUint8);
  EXPECT_THAT(Values<float>(*ReadNpz(path, "float32")), ElementsAre(0.5, -3));
  EXPECT_THAT(Values<double>(*ReadNpz(path, "float64")), ElementsAre(0.1, -3));
}

TEST(NpzTest, ReadsWhatNumpyDeflated) {
  const auto features = ReadNpz(Fixture("deflated"), "x_train");
  ASSERT_TRUE(features.ok()) << features.status();
  EXPECT_THAT(features->shape, ElementsAre(1000, 4));
  EXPECT_EQ(Values<float>(*features)[3999], 3);
  const auto labels = ReadNpz(Fixture("deflated"), "y_train");
  ASSERT_TRUE(labels.ok()) << labels.status();
  EXPECT_EQ(Values<int64_t>(*labels)[999], 9);
}

TEST(NpzTest, ReadsEveryVersionOfTheHeader) {
  for (const char* array : {"v1", "v2", "v3"}) {
    const auto read = ReadNpz(Fixture("versions"), array);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_THAT(Values<uint8_t>(*read), ElementsAre(7, 8));
  }
}

TEST(NpzTest, ReadsHeadersInAnyOrderAndQuotes) {
  const auto read = ReadNpz(
      WriteNpz(Npy("{\"shape\":(2,),'fortran_order':False ,'descr':'|i1'}",
                   "\xff\x01")),
      "x");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(Values<int8_t>(*read), ElementsAre(-1, 1));
}

TEST(NpzTest, ReadsArraysAgainAndInAnyOrder) {
  const auto archive = NpzArchive::Open(Fixture("stored"));
  ASSERT_TRUE(archive.ok()) << archive.status();
  EXPECT_EQ(archive->NameOf("x"), Fixture("stored") + ": x");
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Values<int8_t>(*archive->Read("int8")), ElementsAre(-1, 2));
    const auto header = archive->ReadHeader("x");
    ASSERT_TRUE(header.ok()) << header.status();
    EXPECT_EQ(header->type, ElementType::kUint8);
    EXPECT_THAT(header->shape, ElementsAre(3, 2, 2));
    EXPECT_EQ(archive->Read("none").status().code(),
              absl::StatusCode::kNotFound);
    EXPECT_EQ(Values<uint8_t>(*archive->Read("x"))[11], 11);
  }
}

TEST(NpzTest, RefusesWhatADeviceCannotComputeIn) {
  const std::pair<std::string, std::string> cases[] = {
      {"scalar", ": scalar: the number of dimensions is 0, expected 1 to 8"},
      {"empty", ": empty: dimension 0 is 0, expected at least 1"},
      {"fortran", ": fortran: fortran_order is True, expected False"},
      {"big", ": big: descr is \">f4\", expected one of |u1, |i1, <i2, <i4"},
      {"text", ": text: descr is \"<U1\", expected "},
      {"object", ": object: descr is \"|O\", expected "},
      {"record", ": record: the header goes on with \"[('a', '<f4')], "},
  };
  for (const auto& [array, message] : cases) {
    ExpectRefused(Fixture("stored"), array, kInvalid, message);
  }
}

TEST(NpzTest, RefusesAMissingArray) {
  ExpectRefused(Fixture("deflated"), "x", absl::StatusCode::kNotFound,
                ": there is no array \"x\", expected one of \"x_train\", "
                "\"y_train\"");
  ExpectRefused(Fixture("stored"), "z", absl::StatusCode::kNotFound,
                "\"fortran\", ...");
  ExpectRefused(Fixture("stored"), std::string("x\0y", 3),
                absl::StatusCode::kNotFound,
                ": there is no array \"x\\u0000y\", expected one of ");
  // The end of an archive without entries.
  ExpectRefused(WriteTestFile("none", "PK\x05\x06" + std::string(18, '\0')),
                "x", absl::StatusCode::kNotFound,
                ": there is no array \"x\", nor any other");
}

// As Python's zipfile leaves it when it appends an array that is there.
TEST(NpzTest, RefusesARepeatedArray) {
  std::string bytes =
      ReadBytes(WriteEntries({{"x.npy", Npy(Header("(1,)"), "a")},
                              {"y.npy", Npy(Header("(1,)"), "b")},
                              {"z.npy", Npy(Header("(1,)"), "c")}}));
  for (size_t at = bytes.find("z.npy"); at != std::string::npos;
       at = bytes.find("z.npy")) {
    bytes[at] = 'x';
  }
  const std::string path = WriteTestFile("repeated", bytes);
  ExpectRefused(path, "x", kInvalid,
                ": there are 2 arrays \"x\", expected one");
  EXPECT_THAT(Values<char>(*ReadNpz(path, "y")), ElementsAre('b'));
}

TEST(NpzTest, RefusesWhatIsNoArchive) {
  ExpectRefused("/nowhere/x.npz", "x", absl::StatusCode::kNotFound,
                "cannot open");
  ExpectRefused(testing::TempDir(), "x", kInvalid,
                "is a folder, expected a regular file");
  ExpectRefused(WriteTestFile("text", "no archive"), "x", kInvalid,
                "is no zip archive");
  ExpectRefused(WriteTestFile("empty", ""), "x", kInvalid, "is no zip archive");
}

TEST(NpzTest, RefusesMalformedHeaders) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "goes on with \"\", expected {"},
      {"[]", "goes on with \"[]\", expected {"},
      {"{}", "the header lacks a key"},
      {"{'descr': '|u1', 'shape': (2,)}", "the header lacks a key"},
      {"{'descr", "expected a key"},
      {"{'descr' '|u1'", "expected :"},
      {"{'descr': 1}", "expected one of |u1"},
      {"{'order': 1}", "the header has the key \"order\", expected descr"},
      {"{'descr': '<f4', 'descr': '|u1', ",
       "the header has the key \"descr\" twice"},
      {"{'shape': (1,), 'shape': (2,), ",
       "the header has the key \"shape\" twice"},
      {"{'fortran_order': False, 'fortran_order': False, ",
       "the header has the key \"fortran_order\" twice"},
      {"{'fortran_order': 0}", "expected False"},
      {"{'shape': 2}", "expected ("},
      {"{'shape': (a,)}", "expected a dimension"},
      {"{'shape': (-1,)}", "expected a dimension"},
      {"{'shape': (99999999999999999999,)}", "expected a dimension"},
      {"{'shape': (2 3)}", "expected , or )"},
      {"{'shape': (2,", "expected a dimension"},
      {"{'shape': (2,) 'descr'", "expected , or }"},
      {Header("(2,)") + "x", "expected nothing more"},
      {Header("(1, 1, 1, 1, 1, 1, 1, 1, 1)"), "dimensions is 9, expected"},
  };
  for (const auto& [header, message] : cases) {
    ExpectRefused(WriteNpz(Npy(header, "ab")), "x", kInvalid, message);
  }
}

TEST(NpzTest, RefusesOtherEntries) {
  ExpectRefused(WriteNpz("\x93NUMPX\x01 and so on"), "x", kInvalid,
                "expected a NumPy array");
  ExpectRefused(WriteNpz("\x93NUMPY\x04 and so on"), "x", kInvalid,
                "the version of the format is 4, expected 1 to 3");
  ExpectRefused(WriteNpz("\x93NUM"), "x", kDataLoss,
                "4 of 8 bytes of the magic number");
  ExpectRefused(WriteNpz(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)),
                "x", kInvalid,
                "the header has 4294967295 bytes, expected at most 65535");
  const std::string whole = Npy(Header("(2,)"), "ab");
  ExpectRefused(WriteNpz(whole, ZIP_CM_BZIP2), "x", kInvalid,
                "the compression method is 12, expected 0 (stored) or 8");
  ExpectRefused(WriteNpz(whole, ZIP_CM_STORE, true), "x", kInvalid,
                "is encrypted");
}

TEST(NpzTest, RefusesSizesThatDoNotFit) {
  for (const int method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    const auto write = [method](const std::string& shape) {
      return WriteNpz(Npy(Header(shape), "ab"), method);
    };
    ExpectRefused(write("(3,)"), "x", kDataLoss, "too small to hold them");
    ExpectRefused(write("(1,)"), "x", kInvalid, "there are bytes after the 1");
    ExpectRefused(write("(1099511627776,)"), "x", kDataLoss,
                  "too small to hold them");
    ExpectRefused(write("(1099511627777,)"), "x", kInvalid,
                  "more than the limit");
    ExpectRefused(write("(4294967296, 4294967296)"), "x", kInvalid,
                  "dimension 1 is 4294967296, which makes more than the limit");
  }
  ExpectRefused(WriteNpz(Npy(Header("(1099511627776,)", "<f8"), "ab")), "x",
                kInvalid, "is larger than the limit");
}

// The archive's own directory says how large an entry is.
TEST(NpzTest, RefusesSizesThatLie) {
  for (const int method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    const std::string array = Npy(Header("(100000000,)"), "ab");
    std::string bytes = ReadBytes(WriteNpz(array, method));
    const size_t directory = bytes.rfind("PK\x01\x02");
    ASSERT_NE(directory, std::string::npos);
    const uint32_t large = 200'000'000;
    std::memcpy(&bytes[directory + 20], &large, sizeof(large));
    std::memcpy(&bytes[directory + 24], &large, sizeof(large));
    ExpectRefused(WriteTestFile("lies", bytes), "x", kDataLoss,
                  "takes 100000000 bytes, and the file is too small to hold "
                  "them");
  }
}

TEST(NpzTest, RefusesDamagedValues) {
  const std::string array = Npy(Header("(2,)"), "ab");
  std::string bytes = ReadBytes(WriteNpz(array));
  bytes[bytes.find("}\nab") + 2] ^= 1;
  ExpectRefused(WriteTestFile("damaged", bytes), "x", kDataLoss, "damaged: ");
}

TEST(NpzTest, NamesThePlaceOfDamagedValues) {
  std::string bytes = ReadBytes(Fixture("deflated"));
  // In the checksum of the first array that the directory has.
  bytes[bytes.find("PK\x01\x02") + 16] ^= 1;
  ExpectRefused(WriteTestFile("damaged", bytes), "x_train", kDataLoss,
                ": x_train: damaged: CRC error, before byte ");
}

TEST(NpzTest, RefusesEveryTruncation) {
  for (const auto& [fixture, array] :
       {std::pair("versions", "v1"), std::pair("deflated", "x_train")}) {
    ASSERT_TRUE(ReadNpz(Fixture(fixture), array).ok());
    const std::string whole = ReadBytes(Fixture(fixture));
    for (size_t size = 1; size < whole.size(); size += 7) {
      ExpectRefused(WriteTestFile("part", whole.substr(0, size)), array,
                    kInvalid, "is no zip archive or lacks its end");
    }
  }
}

// Whatever a byte is changed to, there is the array or an error.
TEST(NpzTest, SurvivesEveryChangedByte) {
  const std::string array = Npy(Header("(2,)"), "ab");
  const std::string whole = ReadBytes(WriteNpz(array));
  const size_t begin = whole.find(array);
  ASSERT_NE(begin, std::string::npos);
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int mask : {0x01, 0xFF}) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ mask);
      const auto read = ReadNpz(WriteTestFile("changed", bytes), "x");
      const bool has_checksum = begin <= i && i < begin + array.size();
      EXPECT_FALSE(has_checksum && read.ok()) << i;
      if (!read.ok()) continue;
      EXPECT_EQ(read->type, ElementType::kUint8) << i;
      EXPECT_THAT(Values<char>(*read), ElementsAre('a', 'b')) << i;
    }
  }
}

TEST(NpzRowsTest, AreThoseOfTheArrayInAnyOrder) {
  for (const auto& [fixture, array] :
       {std::pair("stored", "x"), std::pair("deflated", "y_train")}) {
    SCOPED_TRACE(fixture);
    const auto whole = ReadNpz(Fixture(fixture), array);
    ASSERT_TRUE(whole.ok()) << whole.status();
    auto rows = OpenNpzRows(Fixture(fixture), array, RowOrder::kAny);
    ASSERT_TRUE(rows.ok()) << rows.status();
    EXPECT_EQ(rows->type(), whole->type);
    EXPECT_EQ(rows->shape(), whole->shape);
    const int64_t last = whole->shape[0] - 1;
    for (const int64_t index : {int64_t{0}, int64_t{1}, last, int64_t{0}, last,
                                int64_t{1}, int64_t{1}}) {
      const auto row = rows->Read(index);
      ASSERT_TRUE(row.ok()) << row.status();
      const size_t bytes = row->count * SizeOf(row->type);
      EXPECT_EQ(
          std::memcmp(row->data, whole->data.get() + index * bytes, bytes), 0)
          << index;
    }
  }
}

TEST(NpzRowsTest, CompareTheChecksumAtTheEnd) {
  const std::string npy = Npy(Header("(2,)"), "ab");
  std::string bytes = *ReadFile(WriteEntries({{"x.npy", npy}}), 1 << 20);
  const size_t value = bytes.find(npy) + npy.size() - 2;
  bytes[value] = 'c';
  auto rows =
      OpenNpzRows(WriteTestFile("changed", bytes), "x", RowOrder::kOnce);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_TRUE(rows->Read(0).ok());
  EXPECT_EQ(rows->Read(1).status().code(), absl::StatusCode::kDataLoss);
}

TEST(NpzSourceTest, PredictionsReadItRowByRow) {
  NpzSource source;
  source.file.text = Fixture("deflated");
  source.features.entries = {{"", {"x_train"}}};
  source.labels.entries = {{"", {"y_train"}}};
  EXPECT_FALSE((*OpenNpzSource(source))->is_stream());
  const auto opened = OpenNpzSource(source, Contents::kFeatures);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_TRUE((*opened)->is_stream());
  EXPECT_EQ((*opened)->name(), source.file.text + ": x_train");
  EXPECT_EQ((*opened)->example_count(), 1000);
  EXPECT_TRUE((*opened)->spec().labels.empty());
  const auto reader = *(*opened)->MakeReader();
  const auto example = reader->Read(999);
  ASSERT_TRUE(example.ok()) << example.status();
  EXPECT_EQ((*example)->features[0].count, 4);
}

TEST(NpzSourceTest, GivesExamples) {
  NpzSource source;
  source.file.text = Fixture("stored");
  const auto opened = OpenNpzSource(source);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->name(), source.file.text + ": x");
  EXPECT_EQ((*opened)->example_count(), 3);
  const ExampleSpec& spec = (*opened)->spec();
  ASSERT_EQ(spec.features.size(), 1);
  EXPECT_EQ(spec.features[0].name, "");
  EXPECT_EQ(spec.features[0].type, ElementType::kUint8);
  EXPECT_THAT(spec.features[0].shape, ElementsAre(2, 2));
  ASSERT_EQ(spec.labels.size(), 1);
  EXPECT_EQ(spec.labels[0].type, ElementType::kInt64);
  EXPECT_TRUE(spec.labels[0].shape.empty());
  const auto reader = *(*opened)->MakeReader();
  const auto example = reader->Read(1);
  ASSERT_TRUE(example.ok()) << example.status();
  EXPECT_EQ(static_cast<int>((*example)->features[0].data[3]), 7);
  EXPECT_EQ((*opened)->CheckClassIds(0, {3}).message(),
            source.file.text +
                ": y: label 2 is 1099511627776, expected a class id from 0 "
                "to 2");
}

TEST(NpzSourceTest, GivesSeveralArrays) {
  NpzSource source;
  source.file.text = WriteEntries({{"a.npy", Npy(Header("(2, 2)"), "abcd")},
                                   {"b.npy", Npy(Header("(2,)"), "ef")},
                                   {"c.npy", Npy(Header("(2, 1)"), "gh")}});
  source.features.entries = {{"left", {"c"}}, {"right", {"a"}}};
  source.labels.entries = {{"first", {"b"}}, {"second", {"a"}}};
  const auto opened = OpenNpzSource(source);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->name(), source.file.text + ": c");
  const ExampleSpec& spec = (*opened)->spec();
  ASSERT_EQ(spec.features.size(), 2);
  EXPECT_EQ(spec.features[0].name, "left");
  EXPECT_THAT(spec.features[0].shape, ElementsAre(1));
  EXPECT_EQ(spec.features[1].name, "right");
  EXPECT_EQ(spec.features[1].origin, source.file.text + ": a");
  EXPECT_THAT(spec.features[1].shape, ElementsAre(2));
  ASSERT_EQ(spec.labels.size(), 2);

  const auto reader = *(*opened)->MakeReader();
  const auto example = reader->Read(1);
  ASSERT_TRUE(example.ok()) << example.status();
  const auto text = [](const Elements& values) {
    return std::string(reinterpret_cast<const char*>(values.data),
                       values.count);
  };
  EXPECT_EQ(text((*example)->features[0]), "h");
  EXPECT_EQ(text((*example)->features[1]), "cd");
  EXPECT_EQ(text((*example)->labels[0]), "f");
  EXPECT_EQ(text((*example)->labels[1]), "cd");
  EXPECT_THAT(std::string((*opened)->CheckClassIds(1, {10}).message()),
              HasSubstr(": a: label 0 is 97, expected a class id"));
}

TEST(NpzSourceTest, NamesAMissingArray) {
  NpzSource source;
  source.file.text = Fixture("stored");
  source.features.entries = {{"left", {"x"}}, {"right", {"x2"}}};
  const absl::Status status = OpenNpzSource(source).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("there is no array \"x2\", expected one of "));
}

TEST(NpzSourceTest, RefusesDifferentNumbersOfExamples) {
  NpzSource source;
  source.file.text = Fixture("stored");
  source.features.entries = {{"left", {"x"}}, {"right", {"float32"}}};
  const absl::Status status = OpenNpzSource(source).status();
  EXPECT_EQ(status.code(), kInvalid);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(": x has 3 examples, but "),
                    HasSubstr(": float32 has 2, expected the same number")));
}

}  // namespace
}  // namespace paceline
