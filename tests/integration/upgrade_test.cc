// Checkpoints of other versions. fixtures/checkpoint-v1 is what
// `coordinator run job.yaml` of commit 548b971 left, in the middle of its
// second epoch, after it had trained on the examples of SmallJob.
#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::DoubleEq;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;

constexpr char kFixture[] =
    PACELINE_SOURCE_DIR "/tests/integration/fixtures/checkpoint-v1";

class UpgradeTest : public testing::Test {
 protected:
  UpgradeTest() {
    WriteText(job_.path(), ReadText(std::string(kFixture) + "/job.yaml"));
    std::filesystem::create_directories(job_.output_dir());
    std::filesystem::copy(std::string(kFixture) + "/checkpoint",
                          job_.output_dir() + "/checkpoint",
                          std::filesystem::copy_options::recursive);
  }

  std::string FixtureManifest() const {
    return job_.output_dir() + "/checkpoint/step-000000000015/manifest.json";
  }

  SmallJob job_;
};

// By the number of shards: as many as wrote it, and others.
class VersionOneTest : public UpgradeTest,
                       public testing::WithParamInterface<int> {};

INSTANTIATE_TEST_SUITE_P(Shards, VersionOneTest, testing::Values(2, 1, 3));

TEST_P(VersionOneTest, ACheckpointOfVersion1Resumes) {
  const nlohmann::json saved =
      ReadJson(FixtureManifest()).at("session").at("history")[0];
  Process run = job_.Run(
      {"--resume", "--set", "cluster.ps=" + std::to_string(GetParam())});
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  const nlohmann::json result = job_.Result();
  EXPECT_THAT(Column(result, "epoch"), ElementsAre(0, 1));
  EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
  EXPECT_THAT(Column(result, "steps"), Each(kStepsPerEpoch));
  // What was trained and what was counted are there: 1.17 and 0.55 without the
  // interruption.
  EXPECT_THAT(Column(result, "loss"),
              ElementsAre(DoubleEq(saved.at("logs")[0][1]), Lt(0.7)));
  EXPECT_THAT(result.at("evaluation").at("accuracy").get<double>(), Gt(0.9));
  const nlohmann::json last = ReadJson(
      job_.output_dir() + "/checkpoint/step-000000000020/manifest.json");
  EXPECT_EQ(last.at("shards").size(), GetParam());
  for (const nlohmann::json& shard : last.at("shards")) {
    EXPECT_EQ(shard.at("step"), 2 * kStepsPerEpoch);
  }
}

TEST_F(UpgradeTest, ACheckpointOfANewerFormatIsRefused) {
  nlohmann::json manifest = ReadJson(FixtureManifest());
  ASSERT_EQ(manifest.at("version"), 1);
  manifest["version"] = 2;
  // Whatever it says beside.
  manifest.erase("shards");
  WriteText(FixtureManifest(), manifest.dump());
  Process run = job_.Run({"--resume"});
  EXPECT_EQ(run.Wait(kJobLimit), 2);
  EXPECT_THAT(run.Errors(),
              AllOf(HasSubstr("step-000000000015/manifest.json"),
                    HasSubstr("version 2"), HasSubstr("version 1")));
  EXPECT_FALSE(std::filesystem::exists(job_.output_dir() + "/result.json"));
}

}  // namespace
}  // namespace paceline
