#include "coordinator/service/job_paths.h"

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
  v1::Submission submission;
  for (const std::string& path : paths) {
    v1::JobFile& file = *submission.add_files();
    file.set_path(path);
    file.set_sha256(sha256);
  }
  return CheckJobFiles("files", submission.files(), folder);
}

TEST(JobPathsTest, TakesPathsBelowTheFolder) {
  EXPECT_EQ(Check({"job.yaml", "data/train images", "..a/b"}),
            absl::OkStatus());
  EXPECT_EQ(Check({"out/checkpoint/step-1/manifest.json"}, "out/"),
            absl::OkStatus());
}

TEST(JobPathsTest, RefusesThoseThatLeaveIt) {
  for (const std::string path :
       {"", "/etc/passwd", "../x", "a/../../x", "a//b", "a/", "./a", "a\nb"}) {
    EXPECT_THAT(Check({path}).message(),
                HasSubstr("expected a path below the job's folder"))
        << path;
  }
  EXPECT_THAT(Check({"job.yaml"}, "out/").message(), HasSubstr("in out/"));
  EXPECT_THAT(Check({"a", "a"}).message(), HasSubstr("files[1].path: \"a\""));
  EXPECT_THAT(Check({"a"}, "", "../../etc").message(),
              HasSubstr("files[0].sha256: \"../../etc\""));
}

}  // namespace
}  // namespace paceline
