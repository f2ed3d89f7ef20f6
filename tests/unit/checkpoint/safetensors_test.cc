#include "common/safetensors/safetensors.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <csignal>
#include <cstring>

#include "gmock/gmock.h"
#include "tests/unit/checkpoint/checkpoint_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
NamedTensor Tensor(const std::string& name, Shape shape,
                   const std::vector<T>& values) {
  return {name, DataTypeOf<T>::kValue, std::move(shape),
          absl::MakeSpan(reinterpret_cast<const std::byte*>(values.data()),
                         values.size() * sizeof(T))};
}

class SafetensorsTest : public CheckpointTest {
 protected:
  std::string path() const { return directory_ + "/file.safetensors"; }

  // A file with this header, and `data_size` bytes of data.
  void WriteFileWith(const std::string& header, size_t data_size) {
    std::string bytes(8, '\0');
    const uint64_t length = header.size();
    std::memcpy(bytes.data(), &length, sizeof(length));
    WriteBytes(path(), bytes + header + std::string(data_size, 'x'));
  }

  absl::StatusOr<WrittenFile> Write(const SafetensorsMetadata& metadata,
                                    std::vector<NamedTensor> tensors) {
    return WriteSafetensors(**AtomicFile::Create(path()), metadata,
                            std::move(tensors));
  }
  void ExpectDamaged(const std::string& reason) {
    const absl::Status status = SafetensorsFile::Open(path()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path()));
    EXPECT_THAT(std::string(status.message()), HasSubstr(reason));
  }
};

TEST_F(SafetensorsTest, ReadsWhatItWrote) {
  const std::vector<float> b = {1, 2, 3, 4, 5, 6};
  const std::vector<float> a = {7};
  const auto written = Write({{"format", "paceline"}},
                             {Tensor("b", {2, 3}, b), Tensor("a", {}, a)});
  ASSERT_TRUE(written.ok()) << written.status();
  const std::string bytes = ReadBytes(path());
  EXPECT_EQ(written->size_bytes, static_cast<int64_t>(bytes.size()));
  EXPECT_EQ(
      written->crc32,
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));

  const auto file = SafetensorsFile::Open(path());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->header().metadata.at("format"), "paceline");
  EXPECT_EQ(*(*file)->ComputeCrc32(), written->crc32);
  const TensorEntry& entry = (*file)->header().tensors.at("b");
  EXPECT_EQ(entry.dtype, "F32");
  EXPECT_THAT(entry.shape, ElementsAre(2, 3));
  std::vector<float> values(2);
  ASSERT_TRUE(
      (*file)
          ->Read(entry.begin_bytes + 8,
                 absl::MakeSpan(reinterpret_cast<std::byte*>(values.data()), 8))
          .ok());
  EXPECT_THAT(values, ElementsAre(3, 4));
}

// N, the padded header, the data.
TEST_F(SafetensorsTest, WritesTheFormatByteByByte) {
  const std::vector<double> values = {1};
  ASSERT_TRUE(Write({}, {Tensor("w", {1}, values)}).ok());
  const std::string header =
      R"({"w":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})";
  ASSERT_EQ(header.size(), 54u);
  EXPECT_EQ(ReadBytes(path()), std::string("\x38\0\0\0\0\0\0\0", 8) + header +
                                   "  " +
                                   std::string("\0\0\0\0\0\0\xf0\x3f", 8));
}

TEST_F(SafetensorsTest, TakesAnyOrderNoPaddingAndEmptyTensors) {
  WriteFileWith(
      R"({"b":{"data_offsets":[3,7],"shape":[],"dtype":"F32","more":1},)"
      R"("a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
      R"("e":{"dtype":"F32","shape":[0,4],"data_offsets":[3,3]}})",
      7);
  const auto file = SafetensorsFile::Open(path());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->header().tensors.size(), 3u);
}

TEST_F(SafetensorsTest, RefusesDamagedHeaders) {
  WriteBytes(path(), "short");
  ExpectDamaged("no header");
  WriteBytes(path(), std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8));
  ExpectDamaged("larger than the limit");
  WriteBytes(path(), std::string("\x40\0\0\0\0\0\0\0{}", 10));
  ExpectDamaged("cut");

  struct Case {
    const char* header;
    size_t data_size;
    const char* reason;
  };
  const Case cases[] = {
      {"[]", 0, "no JSON object"},
      {"{", 0, "no JSON object"},
      {R"({"a":1})", 0, "a: expected dtype"},
      {R"({"__metadata__":{"a":1}})", 0, "__metadata__.a"},
      {R"({"__metadata__":1})", 0, "__metadata__"},
      {R"({"a":{"dtype":4,"shape":[1],"data_offsets":[0,4]}})", 4, "dtype"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4,
       "shape"},
      {R"({"a":{"dtype":"F32","shape":[1e9],"data_offsets":[0,4]}})", 4,
       "shape"},
      {R"({"a":{"dtype":"F32","shape":[1099511627776,1099511627776],)"
       R"("data_offsets":[0,4]}})",
       4, "shape"},
      {R"({"a":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", 4, "shape"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
       "not the size"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4,
       "not the size"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4,
       "data_offsets"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
       R"("b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
       3, "gap"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
       R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       3, "overlaps"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 2,
       "1 bytes of data, the file has 2"},
      {R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", 2,
       "3 bytes of data, the file has 2"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
       R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
       1, "a: the key is repeated"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.header);
    WriteFileWith(each.header, each.data_size);
    ExpectDamaged(each.reason);
  }
}

TEST_F(SafetensorsTest, WhatOthersMayReadIsNotDamaged) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"a":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]}})",
       ": header, a: the dtype \"F6_E2M3\" is not supported; expected U64, "
       "I64,"},
      {R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],)"
       R"("data_offsets":[0,4]}})",
       ": header, a: a shape of 9 axes is not supported; expected at most 8"}};
  for (const auto& [header, reason] : cases) {
    WriteFileWith(header, 4);
    const absl::Status status = SafetensorsFile::Open(path()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path() + reason));
  }
}

TEST_F(SafetensorsTest, MissingFileIsNotFound) {
  const absl::Status status = SafetensorsFile::Open(path()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path()));
}

// A disk that fills up after 1 MB, in a process of its own.
TEST_F(SafetensorsTest, FullDiskLeavesTheEarlierFile) {
  const std::vector<float> small = {1};
  ASSERT_TRUE(Write({}, {Tensor("w", {1}, small)}).ok());
  const std::string before = ReadBytes(path());

  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::vector<float> large(1 << 20, 2.0f);
    const auto written = Write({}, {Tensor("w", {1 << 20}, large)});
    const bool names_the_file =
        std::string(written.status().message()).find(path()) !=
        std::string::npos;
    _exit(!written.ok() && names_the_file ? 0 : 1);
  }
  int exit_status = 0;
  ASSERT_EQ(waitpid(child, &exit_status, 0), child);
  EXPECT_TRUE(WIFEXITED(exit_status));
  EXPECT_EQ(WEXITSTATUS(exit_status), 0);
  EXPECT_EQ(ReadBytes(path()), before);
  EXPECT_FALSE(std::filesystem::exists(path() + ".tmp"));
}

}  // namespace
}  // namespace paceline
