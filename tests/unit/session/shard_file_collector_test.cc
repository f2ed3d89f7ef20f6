// Files of a checkpoint that come from servers on other machines.
#include "common/session/leader/shard_file_collector.h"

#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ShardFileCollectorTest : public ::testing::Test {
 protected:
  ShardFileCollectorTest()
      : folder_(absl::StrCat(::testing::TempDir(), "collector.", getpid())) {
    std::filesystem::create_directories(folder_);
    for (size_t i = 0; i < content_.size(); ++i) {
      content_[i] = static_cast<char>(i % 251);
    }
    files_[1].size_bytes = static_cast<int64_t>(content_.size());
    files_[1].crc32 = static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(content_.data()),
              static_cast<uInt>(content_.size())));
  }
  ~ShardFileCollectorTest() override { std::filesystem::remove_all(folder_); }

  // Collects the file of the second of two shards.
  absl::Status Collect() {
    return CollectShardFiles(
        folder_, {1}, files_,
        [this](size_t shard, uint64_t offset) -> absl::StatusOr<std::string> {
          EXPECT_EQ(shard, 1);
          return content_.substr(offset, kCheckpointPieceBytes);
        });
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  const std::string folder_;
  // More than two pieces.
  std::string content_ = std::string(2 * kCheckpointPieceBytes + 17, 'x');
  std::vector<ShardFile> files_ = std::vector<ShardFile>(2);
};

TEST_F(ShardFileCollectorTest, WritesWhatTheShardHas) {
  EXPECT_THAT(ShardsElsewhere(folder_, 2), ElementsAre(0, 1));
  ASSERT_TRUE(Collect().ok());
  EXPECT_EQ(*ReadFile(absl::StrCat(folder_, "/", ShardFileName(1, 2)),
                      static_cast<int64_t>(content_.size())),
            content_);
  EXPECT_THAT(ShardsElsewhere(folder_, 2), ElementsAre(0));
}

TEST_F(ShardFileCollectorTest, RefusesOtherBytesThanTheShardDescribed) {
  content_[content_.size() / 2] ^= 1;
  const absl::Status status = Collect();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("shard-00001-of-00002.safetensors has the CRC-32"));
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(ShardFileCollectorTest, RefusesAnotherSizeThanTheShardDescribed) {
  content_.pop_back();
  const absl::Status status = Collect();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("sent 16 bytes from offset 4194304 on; expected 17 of "
                        "the 4194321 that it wrote"));
  EXPECT_THAT(Names(), IsEmpty());
}

}  // namespace
}  // namespace paceline
