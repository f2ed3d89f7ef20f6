// What submit sends, and how often.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/identity/sha256.h"
#include "nlohmann/json.hpp"
#include "tests/unit/service_cli/service_verbs_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;

using SubmitVerbTest = ServiceVerbsTest;

TEST_F(SubmitVerbTest, SubmitSendsWhatIsMissingOnce) {
  const std::string job = WriteJob();
  files_.lost_answers = 1;
  jobs_.loses_first = true;
  EXPECT_EQ(Run(MakeSubmitVerb(), {job, "--retries", "2"}), 0) << error_;
  EXPECT_EQ(out_.str(), "mnist-17\n");
  // The job, which is sent again; the data in two pieces.
  EXPECT_EQ(files_.pieces.size(), 4);
  ASSERT_EQ(jobs_.submissions.size(), 2);
  EXPECT_EQ(jobs_.submissions[0].idempotency_key(),
            jobs_.submissions[1].idempotency_key());
  EXPECT_EQ(jobs_.submissions[0].retries(), 2);
  for (const v1::JobFile& file : jobs_.submissions[0].files()) {
    EXPECT_TRUE(files_.ProgressOf(file.sha256()).is_complete()) << file.path();
  }
  files_.pieces.clear();
  EXPECT_EQ(Run(MakeSubmitVerb(), {job, "-o", "json"}), 0) << error_;
  EXPECT_TRUE(files_.pieces.empty());
  EXPECT_EQ(nlohmann::json::parse(out_.str())["id"], "mnist-17");
}

TEST_F(SubmitVerbTest, UploadsGoOnWhereTheyHaveStopped) {
  const std::string job = WriteJob();
  const std::string content((1 << 20) + 10, 'x');
  files_.contents[Sha256Hex(content)] = content.substr(0, 1 << 20);
  EXPECT_EQ(Run(MakeSubmitVerb(), {job}), 0) << error_;
  EXPECT_THAT(files_.pieces, ElementsAre(std::filesystem::file_size(job), 10));
}

TEST_F(SubmitVerbTest, UploadsWaitWhereTheirRateIsLimited) {
  const std::string job = WriteJob();
  files_.pause = absl::Milliseconds(500);
  // More than an upload has restarts.
  files_.refused_pieces = 4;
  const absl::Time start = MonotonicNow();
  EXPECT_EQ(Run(MakeSubmitVerb(), {job}), 0) << error_;
  EXPECT_EQ(files_.pieces.size(), 4 + 3);
  // Nobody waits after the last one.
  EXPECT_GE(MonotonicNow() - start, 6 * files_.pause);
  EXPECT_EQ(messages_.str(),
            client_->description() +
                " limits the rate of uploads; this one waits for it\n");
}

TEST_F(SubmitVerbTest, ABeginningOfAnotherFileIsSentAnew) {
  const std::string job = WriteJob();
  files_.contents[Sha256Hex(std::string((1 << 20) + 10, 'x'))] = "y";
  EXPECT_EQ(Run(MakeSubmitVerb(), {job}), 0) << error_;
  for (const v1::JobFile& file : jobs_.submissions[0].files()) {
    EXPECT_TRUE(files_.ProgressOf(file.sha256()).is_complete()) << file.path();
  }
}

}  // namespace
}  // namespace paceline
