// Which files a task of a service may read.
#include "common/job/readable_files.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "common/job/job_reader.h"
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

TEST_F(ReadableFilesTest, CachesAreBelowTheJobsFolder) {
  const auto check = [](const std::string& cache) {
    v1::Job job;
    job.mutable_data()->mutable_train();
    job.mutable_data()->mutable_test()->set_cache(cache);
    return CheckCacheFiles(job);
  };
  EXPECT_TRUE(check("").ok());
  EXPECT_TRUE(check("memory").ok());
  EXPECT_TRUE(check("examples.cache").ok());
  EXPECT_TRUE(check("out/examples.cache").ok());
  for (const std::string& outside :
       {std::string("../x"), root_ + "/job/x", root_ + "/data/x",
        std::string("in/../../x"), std::string("in//x")}) {
    const absl::Status status = check(outside);
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << outside;
    EXPECT_THAT(std::string(status.message()),
                AllOf(StartsWith("data.test.cache: "), HasSubstr(outside),
                      HasSubstr("below the job's folder")));
  }
}

TEST_F(ReadableFilesTest, AJobThatIsReadHasThemRelative) {
  const auto read = [this](const std::string& cache) {
    JobReaderOptions options;
    options.check_files = false;
    options.may_read = check_;
    return ReadJob(
        "name: x\nstrategy: mirrored\n"
        "model: {layers: [{Input: {shape: [1]}}, "
        "{Dense: {units: 1}}]}\n"
        "loss: {MeanSquaredError: {}}\noptimizer: SGD\n"
        "batch_size_per_replica: 1\ndata: {train: {npz: {file: x.npz}, "
        "cache: " +
            cache + "}}\n",
        "job.yaml", {}, options);
  };
  const auto job = read("./sub/examples.cache");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->data().train().cache(), "sub/examples.cache");
  EXPECT_THAT(std::string(read("/tmp/x").status().message()),
              HasSubstr("data.train.cache: \"/tmp/x\": expected a path below "
                        "the job's folder"));
}

}  // namespace
}  // namespace paceline
