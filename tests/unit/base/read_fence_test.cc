// What a fenced thread may open.
#include "common/base/read_fence.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

class ReadFenceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const absl::Status support = ReadFence::Support(); !support.ok()) {
      GTEST_SKIP() << support;
    }
    std::string name = testing::TempDir() + "/fence-XXXXXX";
    root_ = mkdtemp(name.data());
    for (const char* folder : {"open/sub", "closed"}) {
      fs::create_directories(root_ / folder);
      std::ofstream(root_ / folder / "file") << folder;
    }
    fs::create_symlink("sub/file", root_ / "open/link");
    fence_ = ReadFence({root_ / "open", root_ / "none"});
  }
  void TearDown() override {
    if (!root_.empty()) fs::remove_all(root_);
  }

  absl::StatusOr<std::string> Read(const fs::path& path) const {
    return fence_.Run([&] { return ReadFile(path.string(), 100); });
  }
  absl::Status Write(const fs::path& path) const {
    return fence_.Run(
        [&] { return WriteFileAtomically(path.string(), "new"); });
  }

  fs::path root_;
  // Around "open", and a folder that does not exist.
  ReadFence fence_;
};

TEST_F(ReadFenceTest, FilesInsideCanBeRead) {
  EXPECT_EQ(*Read(root_ / "open/sub/file"), "open/sub");
  EXPECT_EQ(*Read(root_ / "open/link"), "open/sub");
  EXPECT_EQ(*Read(root_ / "closed/../open/link"), "open/sub");
}

TEST_F(ReadFenceTest, FilesOutsideCannot) {
  fs::create_symlink("../closed/file", root_ / "open/out");
  for (const char* path : {"closed/file", "open/out", "open/../closed/file",
                           "open/sub/../../closed/file"}) {
    const absl::Status status = Read(root_ / path).status();
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << path << ": " << status;
  }
  const absl::Status status = Read("/proc/self/environ").status();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
}

TEST_F(ReadFenceTest, NothingCanBeWritten) {
  for (const char* path : {"open/new", "open/sub/file", "closed/new"}) {
    const absl::Status status = Write(root_ / path);
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << path << ": " << status;
  }
  EXPECT_EQ(*ReadFile((root_ / "open/sub/file").string(), 100), "open/sub");
}

TEST_F(ReadFenceTest, ALinkThatMovesAfterACheckLeadsNowhere) {
  std::promise<void> checked;
  std::promise<void> moved;
  std::thread other([&] {
    checked.get_future().wait();
    fs::create_symlink("../closed/file", root_ / "open/new");
    fs::rename(root_ / "open/new", root_ / "open/link");
    moved.set_value();
  });
  const absl::Status status =
      fence_
          .Run([&] {
            const std::string link = (root_ / "open/link").string();
            EXPECT_EQ(fs::read_symlink(link), "sub/file");
            checked.set_value();
            moved.get_future().wait();
            return ReadFile(link, 100);
          })
          .status();
  other.join();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
}

TEST_F(ReadFenceTest, ItHoldsForNoOtherThread) {
  EXPECT_FALSE(Read(root_ / "closed/file").ok());
  EXPECT_EQ(*ReadFile((root_ / "closed/file").string(), 100), "closed");
}

TEST_F(ReadFenceTest, WithOneFolderMore) {
  fence_ = fence_.With(root_ / "closed");
  EXPECT_EQ(*Read(root_ / "closed/file"), "closed");
  EXPECT_EQ(*Read(root_ / "open/link"), "open/sub");
}

TEST_F(ReadFenceTest, NoneHoldsNothingBack) {
  fence_ = ReadFence().With(root_ / "open");
  EXPECT_EQ(*Read(root_ / "closed/file"), "closed");
  const std::thread::id here = std::this_thread::get_id();
  EXPECT_TRUE(fence_
                  .Run([here] {
                    EXPECT_EQ(std::this_thread::get_id(), here);
                    return absl::OkStatus();
                  })
                  .ok());
}

}  // namespace
}  // namespace paceline
