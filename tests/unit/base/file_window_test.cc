#include "common/base/file_window.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

// Longer than what is read ahead.
constexpr int64_t kFileBytes = 3 * FileWindow::kMaxAheadBytes + 123;

class FileWindowTest : public testing::Test {
 protected:
  FileWindowTest()
      : path_(absl::StrCat(testing::TempDir(), "file_window_test.", getpid())) {
    for (int64_t i = 0; i < kFileBytes; ++i) {
      bytes_.push_back(static_cast<char>(i % 251 + i / 251));
    }
    Write();
    auto file = StableFile::Open(path_);
    EXPECT_TRUE(file.ok()) << file.status();
    if (file.ok()) file_.emplace(*std::move(file));
  }
  ~FileWindowTest() override { std::filesystem::remove(path_); }

  void Write() { std::ofstream(path_, std::ios::binary) << bytes_; }

  // Whether the window has what the file has there.
  bool IsRight(int64_t offset, int64_t size) {
    const auto read = window_.At(*file_, offset, size);
    EXPECT_TRUE(read.ok()) << read.status();
    return read.ok() && *read == bytes_.substr(offset, size);
  }

  const std::string path_;
  std::string bytes_;
  std::optional<StableFile> file_;
  FileWindow window_;
};

TEST_F(FileWindowTest, PiecesInTheirOrder) {
  for (const int64_t size : {1, 100, 4'097, 70'000}) {
    window_ = FileWindow();
    for (int64_t offset = 0; offset < kFileBytes; offset += size) {
      ASSERT_TRUE(IsRight(offset, std::min(size, kFileBytes - offset)))
          << size << " bytes at " << offset;
    }
  }
}

TEST_F(FileWindowTest, JumpsGapsAndLargePieces) {
  EXPECT_TRUE(IsRight(kFileBytes - 7, 7));
  EXPECT_TRUE(IsRight(0, kFileBytes));
  EXPECT_TRUE(IsRight(5, 0));
  window_ = FileWindow();
  EXPECT_TRUE(IsRight(100'000, 10));
  EXPECT_TRUE(IsRight(99'995, 10));
  // Each leaves out what another reader takes.
  for (int64_t offset = 0; offset + 90 < kFileBytes; offset += 5'000) {
    ASSERT_TRUE(IsRight(offset, 90)) << offset;
  }
}

TEST_F(FileWindowTest, ReadsAheadWhilePiecesFollowEachOther) {
  EXPECT_TRUE(IsRight(0, 10));
  EXPECT_TRUE(IsRight(10, 10));
  // The file is not looked at again: the change goes unnoticed.
  usleep(20'000);
  bytes_[0] ^= 1;
  Write();
  EXPECT_TRUE(IsRight(20, 10));
  // After a jump it is.
  EXPECT_THAT(window_.At(*file_, kFileBytes / 2, 10).status().message(),
              HasSubstr("was written to while it was read"));
  // A window whose read has failed has nothing.
  EXPECT_FALSE(window_.At(*file_, 20, 10).ok());
}

TEST_F(FileWindowTest, AnotherFileIsAJump) {
  EXPECT_TRUE(IsRight(0, 100));
  const auto other = StableFile::Open("/proc/self/exe");
  ASSERT_TRUE(other.ok()) << other.status();
  const auto read = window_.At(*other, 0, 4);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, "\177ELF");
  EXPECT_TRUE(IsRight(0, 4));
}

}  // namespace
}  // namespace paceline
