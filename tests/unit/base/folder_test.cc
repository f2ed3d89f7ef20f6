#include "common/base/folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

class FolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = ::testing::TempDir() + "folder." + info->name() + "." +
            std::to_string(getpid());
    std::filesystem::create_directories(path_);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  // What lies outside and must stay as it is.
  std::string WriteVictim() const {
    const std::string victim = path_ + "/victim";
    std::ofstream(victim) << "precious";
    return victim;
  }
  static std::string Read(const std::string& path) {
    return ReadFile(path, 1 << 20).value_or("none");
  }

  std::string path_;
};

TEST_F(FolderTest, FilesTakeThePlaceOfLinks) {
  const std::string victim = WriteVictim();
  std::filesystem::create_symlink(victim, path_ + "/soft");
  std::filesystem::create_hard_link(victim, path_ + "/hard");
  std::filesystem::create_symlink(path_ + "/none", path_ + "/dangling");
  const absl::StatusOr<Folder> folder = Folder::Open(path_);
  ASSERT_TRUE(folder.ok()) << folder.status();
  for (const char* name : {"soft", "hard", "dangling", "new"}) {
    const absl::StatusOr<FileDescriptor> file = folder->CreateFile(name);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_EQ(write(file->get(), "mine", 4), 4);
    EXPECT_EQ(Read(folder->PathOf(name)), "mine");
    EXPECT_FALSE(std::filesystem::is_symlink(folder->PathOf(name)));
  }
  EXPECT_EQ(Read(victim), "precious");
  EXPECT_FALSE(folder->Has("none"));
}

TEST_F(FolderTest, LinksAreNoFoldersBelowIt) {
  std::filesystem::create_directory(path_ + "/real");
  std::filesystem::create_directory_symlink(path_ + "/real", path_ + "/link");
  const absl::StatusOr<Folder> folder = Folder::Open(path_);
  EXPECT_TRUE(folder->OpenBelow("real").ok());
  const absl::Status status = folder->OpenBelow("link").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_ + "/link"));
  EXPECT_EQ(folder->OpenBelow("none").status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(FolderTest, NamesAreOneComponent) {
  const absl::StatusOr<Folder> folder = Folder::Open(path_);
  std::filesystem::create_directory(path_ + "/a");
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"),
        std::string("/etc"), std::string("a\0b", 3)}) {
    EXPECT_EQ(folder->OpenBelow(name).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(folder->CreateFile(name).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

// Whoever made a link where a result or its temporary file goes gains nothing.
TEST_F(FolderTest, WholeFilesFollowNoLinks) {
  const std::string victim = WriteVictim();
  const std::string result = path_ + "/result.json";
  std::filesystem::create_symlink(victim, result + ".tmp");
  ASSERT_TRUE(WriteFileAtomically(result, "first").ok());
  EXPECT_FALSE(std::filesystem::is_symlink(result));
  EXPECT_EQ(Read(result), "first");

  std::filesystem::remove(result);
  std::filesystem::create_symlink(victim, result);
  ASSERT_TRUE(WriteFileAtomically(result, "second").ok());
  EXPECT_FALSE(std::filesystem::is_symlink(result));
  EXPECT_EQ(Read(result), "second");
  EXPECT_EQ(Read(victim), "precious");
}

// As root, a rename to /dev/full would replace the device.
TEST_F(FolderTest, WholeFilesReplaceOnlyRegularFiles) {
  std::filesystem::create_directory(path_ + "/folder");
  ASSERT_EQ(mkfifo((path_ + "/pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/full", path_ + "/link");
  for (const auto& [name, kind] :
       {std::pair("folder", "a folder"), std::pair("pipe", "a pipe"),
        std::pair("link", "a device")}) {
    const std::string path = path_ + "/" + name;
    const absl::Status status = WriteFileAtomically(path, "mine");
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(status.message(), "cannot replace " + path + ": it is " + kind +
                                    "; expected a regular file");
    EXPECT_TRUE(std::filesystem::exists(path));
    EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
  }
  EXPECT_TRUE(std::filesystem::is_symlink(path_ + "/link"));
}

}  // namespace
}  // namespace paceline
