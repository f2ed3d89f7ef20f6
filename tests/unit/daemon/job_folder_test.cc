// A job's folder has what the coordinator says, and nothing outside changes.

#include "common/daemon/job_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "common/identity/sha256.h"
#include "gmock/gmock.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Two bytes a piece.
constexpr size_t kPiece = 2;

class JobFolderTest : public ::testing::Test {
 protected:
  JobFolderTest() {
    fs::remove_all(home_);
    fs::create_directories(folder_);
  }

  void List(const std::string& path, const std::string& content) {
    v1::JobFile& file = *files_.Add();
    file.set_path(path);
    file.set_sha256(Sha256Hex(content));
    file.set_size_bytes(content.size());
    contents_[file.sha256()] = content;
  }
  absl::Status Fill() {
    read_.clear();
    return FillJobFolder(
        folder_, files_,
        [this](const std::string& sha256,
               uint64_t offset) -> absl::StatusOr<std::string> {
          if (offset == 0) read_.push_back(contents_.at(sha256));
          return contents_.at(sha256).substr(offset, kPiece);
        });
  }
  std::string Read(const std::string& path) const {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  const std::string home_ = ::testing::TempDir() + "job_folder_test";
  const std::string folder_ = home_ + "/files";
  JobFiles files_;
  std::map<std::string, std::string> contents_;
  std::vector<std::string> read_;
};

TEST_F(JobFolderTest, GetsFilesInPiecesAndKeepsThoseThatAreRight) {
  List("job.yaml", "12345");
  List("data/a/b.npy", "67");
  List("empty", "");
  ASSERT_TRUE(Fill().ok());
  EXPECT_EQ(Read(folder_ + "/job.yaml"), "12345");
  EXPECT_EQ(Read(folder_ + "/data/a/b.npy"), "67");
  EXPECT_TRUE(fs::is_regular_file(folder_ + "/empty"));
  std::ofstream(folder_ + "/job.yaml") << "12344";
  ASSERT_TRUE(Fill().ok());
  EXPECT_THAT(read_, ElementsAre("12345"));
  ASSERT_TRUE(Fill().ok());
  EXPECT_THAT(read_, IsEmpty());
}

TEST_F(JobFolderTest, RemovesWhatIsNotListed) {
  List("out/result.json", "{}");
  fs::create_directories(folder_ + "/out/checkpoint/step-000000000001");
  std::ofstream(folder_ + "/out/checkpoint/step-000000000001/x") << "old";
  fs::create_directories(folder_ + "/out/result.json");
  std::ofstream(folder_ + "/steps.csv") << "old";
  ASSERT_TRUE(Fill().ok());
  EXPECT_FALSE(fs::exists(folder_ + "/out/checkpoint"));
  EXPECT_FALSE(fs::exists(folder_ + "/steps.csv"));
  EXPECT_EQ(Read(folder_ + "/out/result.json"), "{}");
}

TEST_F(JobFolderTest, ReplacesLinksAndFollowsNone) {
  const std::string outside = home_ + "/outside";
  fs::create_directories(outside);
  std::ofstream(outside + "/job.yaml") << "theirs";
  fs::create_symlink(outside, folder_ + "/data");
  fs::create_symlink(outside + "/job.yaml", folder_ + "/job.yaml");
  List("data/job.yaml", "ours");
  List("job.yaml", "ours");
  ASSERT_TRUE(Fill().ok());
  EXPECT_EQ(Read(outside + "/job.yaml"), "theirs");
  EXPECT_EQ(Read(folder_ + "/data/job.yaml"), "ours");
  EXPECT_FALSE(fs::is_symlink(folder_ + "/job.yaml"));
}

TEST_F(JobFolderTest, AFileMayHaveTheTemporaryNameOfAnother) {
  List("a.tmp", "1");
  List("a", "2");
  ASSERT_TRUE(Fill().ok());
  EXPECT_EQ(Read(folder_ + "/a.tmp"), "1");
  EXPECT_EQ(Read(folder_ + "/a"), "2");
}

TEST_F(JobFolderTest, RefusesContentThatIsNotTheFiles) {
  List("job.yaml", "12345");
  for (const std::string content : {"1234", "123456", "12344"}) {
    contents_[files_.at(0).sha256()] = content;
    const absl::Status status = Fill();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << content;
    EXPECT_THAT(std::string(status.message()),
                StartsWith(folder_ + "/job.yaml: "));
    EXPECT_FALSE(fs::exists(folder_ + "/job.yaml"));
    EXPECT_FALSE(fs::exists(folder_ + "/job.yaml.tmp"));
  }
}

TEST_F(JobFolderTest, RefusesPathsThatLeadElsewhere) {
  std::ofstream(home_ + "/x") << "theirs";
  List("../x", "ours");
  const absl::Status status = Fill();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("files[0].path: \"../x\""));
  EXPECT_EQ(Read(home_ + "/x"), "theirs");
}

}  // namespace
}  // namespace paceline
