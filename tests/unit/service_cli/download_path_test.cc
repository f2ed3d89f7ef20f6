#include <filesystem>
#include <string>

#include "coordinator/cli/service/download_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

TEST(DownloadPathTest, PathsStayBelowTheFolder) {
  EXPECT_EQ(*DownloadPath("out/result.json"), "result.json");
  EXPECT_EQ(*DownloadPath("out/checkpoint/1/a..b"), "checkpoint/1/a..b");
  EXPECT_EQ(*DownloadPath("notes.txt"), "notes.txt");
  for (const std::string path :
       {"", "out/", "/etc/passwd", "out//etc/passwd", "out/../x", "..", "a/..",
        "a/./b", "a//b", "a/", "out/out/../../x"}) {
    EXPECT_EQ(DownloadPath(path).status().code(), absl::StatusCode::kDataLoss)
        << path;
  }
  EXPECT_FALSE(DownloadPath(std::string("a\0b", 3)).ok());
}

TEST(DownloadPathTest, LinksAreNotFollowed) {
  const std::string folder = ::testing::TempDir() + "download_path_test";
  fs::remove_all(folder);
  fs::create_directories(folder + "/elsewhere");
  fs::create_directories(folder + "/root");
  fs::create_directory_symlink("../elsewhere", folder + "/root/link");
  const auto root = Folder::Open(folder + "/root");
  ASSERT_TRUE(root.ok()) << root.status();
  EXPECT_FALSE(OpenParent(*root, "link/x").ok());
  const auto parent = OpenParent(*root, "a/b/x");
  ASSERT_TRUE(parent.ok()) << parent.status();
  EXPECT_EQ(parent->second, "x");
  EXPECT_TRUE(fs::is_directory(folder + "/root/a/b"));
}

}  // namespace
}  // namespace paceline
