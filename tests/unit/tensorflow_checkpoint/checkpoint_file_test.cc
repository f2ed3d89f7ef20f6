#include "common/tensorflow_checkpoint/checkpoint_file.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/crc32c.h"
#include "common/tensorflow_checkpoint/messages.pb.h"
#include "gmock/gmock.h"
#include "tests/unit/tensorflow_checkpoint/table_builder.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

absl::Span<const std::byte> Bytes(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// A checkpoint of two shards; the second has the string "graph" and the number
// "four", the first nothing.
class CheckpointFileTest : public ::testing::Test {
 protected:
  CheckpointFileTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    const std::string length("\x05\0\0\0", 4);
    uint32_t crc = MaskCrc32c(ExtendCrc32c(0, Bytes(length)));
    const std::string checksum(reinterpret_cast<const char*>(&crc), 4);
    shard_ = absl::StrCat("\x05", checksum, "graph", "four");
    crc = ExtendCrc32c(0, Bytes(absl::StrCat(length, checksum, "graph")));
    tensorflow::BundleEntry& text = entries_["text"];
    text.set_dtype(static_cast<int>(TensorFlowType::kString));
    text.set_size(10);
    text.set_crc32c(MaskCrc32c(crc));
    tensorflow::BundleEntry& number = entries_["number"];
    number.set_dtype(static_cast<int>(TensorFlowType::kInt32));
    number.set_size(4);
    number.set_offset(10);
    number.set_crc32c(MaskCrc32c(ExtendCrc32c(0, Bytes("four"))));
    for (auto& [key, entry] : entries_) entry.set_shard_id(1);
  }

  absl::StatusOr<std::unique_ptr<CheckpointFile>> Open() {
    tensorflow::BundleHeader header;
    header.set_num_shards(2);
    std::map<std::string, std::string> table = {
        {"", header.SerializeAsString()}};
    for (const auto& [key, entry] : entries_) {
      table[key] = entry.SerializeAsString();
    }
    std::ofstream(folder_ + "/c.index", std::ios::binary) << TableOf(table);
    std::ofstream(folder_ + "/c.data-00001-of-00002", std::ios::binary)
        << shard_;
    return CheckpointFile::Open(folder_ + "/c.index");
  }

  absl::Status ReadText() {
    const auto file = Open();
    if (!file.ok()) return file.status();
    return (*file)->ReadString("text", 100).status();
  }

  const std::string folder_ = ::testing::TempDir() + "checkpoint_file_test";
  std::map<std::string, tensorflow::BundleEntry> entries_;
  std::string shard_;
};

TEST_F(CheckpointFileTest, ReadsAStringAndANumber) {
  const auto file = Open();
  ASSERT_TRUE(file.ok()) << file.status();
  const auto text = (*file)->ReadString("text", 5);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, "graph");
  EXPECT_TRUE((*file)->CheckTensor("number").ok());
  std::string read(4, '\0');
  ASSERT_TRUE((*file)
                  ->ReadAt((*file)->OffsetOf((*file)->entries().at("number")),
                           {reinterpret_cast<std::byte*>(read.data()), 4})
                  .ok());
  EXPECT_EQ(read, "four");
}

TEST_F(CheckpointFileTest, RefusesADamagedString) {
  for (size_t i = 0; i < 10; ++i) {
    shard_[i] ^= 1;
    const absl::Status status = ReadText();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << i << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("text"));
    shard_[i] ^= 1;
  }
  EXPECT_TRUE(ReadText().ok());
}

TEST_F(CheckpointFileTest, RefusesADamagedNumber) {
  shard_.back() ^= 1;
  const auto file = Open();
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->CheckTensor("number").code(), absl::StatusCode::kDataLoss);
}

TEST_F(CheckpointFileTest, RefusesOtherTensorsThanAString) {
  auto file = Open();
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->ReadString("none", 5).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ((*file)->ReadString("number", 5).status().code(),
            absl::StatusCode::kInvalidArgument);
  entries_["text"].mutable_shape()->add_dim()->set_size(1);
  EXPECT_EQ(ReadText().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(CheckpointFileTest, RefusesALongString) {
  entries_["text"].set_size(1000);
  shard_.resize(2000);
  EXPECT_EQ(ReadText().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(CheckpointFileTest, RefusesTensorsOutsideOfTheirShards) {
  for (const int64_t offset : {int64_t{11}, INT64_MAX}) {
    entries_["number"].set_offset(offset);
    const absl::Status status = Open().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("c.data-00001-of-00002: has 14 bytes, "
                                       "expected number of 4 bytes at ",
                                       offset)));
  }
}

TEST_F(CheckpointFileTest, OpensOnlyShardsThatHaveTensors) {
  entries_["number"].set_shard_id(0);
  const absl::Status status = Open().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("c.data-00000-of-00002"));
}

}  // namespace
}  // namespace paceline
