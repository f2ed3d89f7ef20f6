// Files and logs that come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/base/file.h"
#include "common/identity/sha256.h"
#include "tests/unit/service_cli/service_verbs_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;

using DownloadVerbTest = ServiceVerbsTest;

TEST_F(DownloadVerbTest, DownloadGoesOnAndChecks) {
  const std::string content = "0123456789ab";
  v1::JobFile& file = *jobs_.job.add_outputs();
  file.set_path("out/deep/result.json");
  file.set_sha256(Sha256Hex(content));
  file.set_size_bytes(content.size());
  files_.contents[file.sha256()] = content;
  jobs_.job.mutable_record()->set_generation(1);
  jobs_.job.mutable_record()->add_placements()->mutable_task()->set_type(
      v1::TASK_TYPE_CHIEF);
  jobs_.logs = {{1, "a log\n"}};
  const std::string to = folder_ + "/to";
  std::filesystem::create_directories(to + "/deep");
  std::ofstream(to + "/deep/result.json.part") << content.substr(0, 6);
  const auto download = [&] {
    return Run(MakeDownloadVerb(), {"mnist-17", "--output", to});
  };
  EXPECT_EQ(download(), 0) << error_;
  EXPECT_THAT(files_.offsets, ElementsAre(6, 11));
  EXPECT_EQ(*ReadFile(to + "/deep/result.json", 100), content);
  EXPECT_EQ(*ReadFile(to + "/logs/leader.log", 100), "a log\n");
  EXPECT_FALSE(std::filesystem::exists(to + "/deep/result.json.part"));

  // It is there already.
  files_.offsets.clear();
  EXPECT_EQ(download(), 0) << error_;
  EXPECT_TRUE(files_.offsets.empty());

  // Another file was there, and of it a beginning.
  std::ofstream(to + "/deep/result.json") << "other";
  std::ofstream(to + "/deep/result.json.part") << "wrong";
  EXPECT_EQ(download(), 0) << error_;
  EXPECT_THAT(files_.offsets, ElementsAre(5, 10, 0, 5, 10));
  EXPECT_EQ(*ReadFile(to + "/deep/result.json", 100), content);

  files_.contents[file.sha256()] = "0123456789AB";
  std::filesystem::remove(to + "/deep/result.json");
  download();
  EXPECT_EQ(error_.code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(std::filesystem::exists(to + "/deep/result.json"));
}

TEST_F(DownloadVerbTest, DownloadsStayInTheirFolder) {
  jobs_.job.add_outputs()->set_path("out/../../x");
  Run(MakeDownloadVerb(), {"mnist-17", "--output", folder_ + "/to"});
  EXPECT_EQ(error_.code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace paceline
