// Which files a task of a service may read.
#include "common/job/readable_files.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ReadableFilesTest : public ::testing::Test {
 protected:
  ReadableFilesTest() {
    fs::remove_all(root_);
    for (const char* folder : {"job", "data/sub", "other"}) {
      fs::create_directories(root_ + "/" + folder);
      std::ofstream(root_ + "/" + folder + "/x.npz") << "x";
    }
    fs::create_symlink(root_ + "/other/x.npz", root_ + "/data/out.npz");
    fs::create_symlink(root_ + "/data/sub", root_ + "/job/in");
    fs::current_path(root_ + "/job");
  }
  ~ReadableFilesTest() override { fs::current_path(fs::temp_directory_path()); }

  bool MayRead(const std::string& path) const {
    return check_({Path("data"), path}).ok();
  }

  const std::string root_ = ::testing::TempDir() + "readable_files_test";
  const FileCheck check_ = BelowFolders({root_ + "/data"});
};

TEST_F(ReadableFilesTest, AreThoseOfTheJobAndOfTheDaemonsFolders) {
  EXPECT_TRUE(MayRead("x.npz"));
  EXPECT_TRUE(MayRead(root_ + "/job/x.npz"));
  EXPECT_TRUE(MayRead(root_ + "/data/sub/x.npz"));
  EXPECT_TRUE(MayRead(root_ + "/data/none.npz")) << "its reader says so";
  EXPECT_TRUE(MayRead("in/x.npz"));
  EXPECT_FALSE(MayRead("../other/x.npz"));
  EXPECT_FALSE(MayRead(root_ + "/other/x.npz"));
  EXPECT_FALSE(MayRead(root_ + "/data/../other/x.npz"));
  EXPECT_FALSE(MayRead(root_ + "/data/out.npz"));
  EXPECT_FALSE(MayRead(root_ + "/data2/x.npz"));
}

TEST_F(ReadableFilesTest, AnErrorNamesTheFieldTheFileAndTheFolders) {
  v1::Job job;
  job.mutable_data()->mutable_train()->mutable_idx()->set_features("x.npz");
  job.mutable_data()->mutable_train()->mutable_idx()->set_labels("/etc/passwd");
  const absl::Status refused = CheckReadable(job, check_);
  EXPECT_TRUE(absl::IsPermissionDenied(refused));
  EXPECT_THAT(std::string(refused.message()),
              AllOf(StartsWith("data.train.idx.labels: /etc/passwd is outside"),
                    HasSubstr(root_ + "/data")));
}

}  // namespace
}  // namespace paceline
