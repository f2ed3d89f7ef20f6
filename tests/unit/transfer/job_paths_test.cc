#include "common/transfer/job_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace paceline {
namespace {

using ::testing::HasSubstr;

absl::Status Check(const std::vector<std::string>& paths,
                   const std::string& folder = "",
                   const std::string& sha256 = std::string(64, 'a')) {
  JobFiles files;
  for (const std::string& path : paths) {
    v1::JobFile& file = *files.Add();
    file.set_path(path);
    file.set_sha256(sha256);
  }
  return CheckJobFiles("files", files, folder);
}

TEST(JobPathsTest, TakesPathsBelowTheFolder) {
  EXPECT_EQ(Check({"job.yaml", "data/train images", "..a/b"}),
            absl::OkStatus());
  EXPECT_EQ(Check({"out/checkpoint/step-1/manifest.json"}, kOutputFolder),
            absl::OkStatus());
  EXPECT_TRUE(IsJobPath(std::string(255, 'a') + "/ä"));
}

TEST(JobPathsTest, RefusesThoseThatLeaveIt) {
  for (const std::string path : {"", "/etc/passwd", "../x", "a/../../x", "a//b",
                                 "a/", "./a", "..", "/", "a/.."}) {
    EXPECT_THAT(Check({path}).message(),
                HasSubstr("expected a path below the job's folder"))
        << path;
  }
  EXPECT_THAT(Check({"job.yaml"}, "out").message(), HasSubstr("in out/"));
  EXPECT_FALSE(Check({"out"}, "out").ok());
  EXPECT_FALSE(Check({"outer/a"}, "out").ok());
}

TEST(JobPathsTest, RefusesThoseThatFilesCannotHave) {
  for (const std::string& path :
       {std::string("a\nb"), std::string("a\0b", 3), std::string("\xff"),
        std::string(256, 'a'), std::string(600, 'a') + "/b"}) {
    EXPECT_FALSE(IsJobPath(path)) << path;
  }
  std::string long_path = "a";
  while (long_path.size() < 1023) long_path += "/a";
  EXPECT_TRUE(IsJobPath(long_path));
  EXPECT_FALSE(IsJobPath(long_path + "/a"));
}

TEST(JobPathsTest, RefusesListsThatAreNoTree) {
  EXPECT_THAT(Check({"a", "a"}).message(),
              HasSubstr("files[1].path: \"a\"; expected a path that no other"));
  EXPECT_THAT(Check({"a/b/c", "a-b", "a/b"}).message(),
              HasSubstr("files[0].path: \"a/b/c\"; expected a path of which"));
}

TEST(JobPathsTest, RefusesWhatIsNoHash) {
  EXPECT_THAT(Check({"a"}, "", "../../etc").message(),
              HasSubstr("files[0].sha256: \"../../etc\""));
}

TEST(JobPathsTest, FindsTheCheckpointOfAFile) {
  EXPECT_EQ(CheckpointOf("out/checkpoint/step-1/a.b"), "out/checkpoint/step-1");
  EXPECT_EQ(CheckpointOf("out/phases/head/checkpoint/step-1/manifest.json"),
            "out/phases/head/checkpoint/step-1");
  EXPECT_EQ(CheckpointOf("out/checkpoint/x"), "out/checkpoint/x");
  for (const char* const path :
       {"out", "out/checkpoint", "out/result.json", "checkpoint/step-1/a",
        "out/phases/head/result.json", "out/phases/checkpoint/step-1/a"}) {
    EXPECT_EQ(CheckpointOf(path), "") << path;
  }
}

TEST(JobPathsTest, ACallMayTellOfSoManyFiles) {
  EXPECT_TRUE(CheckFileCount("files", 10'000).ok());
  EXPECT_EQ(
      CheckFileCount("files", 10'001),
      absl::InvalidArgumentError("files: 10001 files; expected at most 10000"));
}

}  // namespace
}  // namespace paceline
