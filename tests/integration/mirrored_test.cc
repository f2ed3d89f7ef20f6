// Strategies whose replicas are in one process: mirrored, central_storage.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class MirroredTest : public testing::TestWithParam<const char*> {
 protected:
  // The job with the same global batch whatever the devices.
  static std::vector<std::string> Arguments(
      const std::string& strategy, int devices,
      const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {
        "--set", "strategy=" + strategy,
        "--set", "cluster={worker: 1}",
        "--set", "devices=" + std::to_string(devices),
        "--set", "batch_size_per_replica=null",
        "--set", "global_batch_size=" + std::to_string(kBatchSize)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  static nlohmann::json Run(const SmallJob& job, int devices,
                            const std::vector<std::string>& more = {}) {
    Process run = job.Run(Arguments(GetParam(), devices, more));
    EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
    return job.Result();
  }
};

TEST_P(MirroredTest, ReplicasStepTogether) {
  SmallJob alone;
  const nlohmann::json expected = Run(alone, 1);
  SmallJob job;
  const nlohmann::json result = Run(job, 3);
  EXPECT_THAT(result.at("tasks"), SizeIs(1));
  EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
  EXPECT_THAT(Column(result, "steps"), Each(kStepsPerEpoch));
  EXPECT_NEAR(result.at("evaluation").at("loss").get<double>(),
              expected.at("evaluation").at("loss").get<double>(), 1e-4);
}

TEST_P(MirroredTest, RepeatsToTheBitAndResumes) {
  SmallJob whole;
  Run(whole, 2);
  SmallJob parts;
  Run(parts, 2, {"--set", "epochs=1"});
  const nlohmann::json resumed = Run(parts, 2, {"--resume"});
  EXPECT_THAT(Column(resumed, "epoch"), ElementsAre(0, 1, 2));
  EXPECT_EQ(parts.LastShardFile(), whole.LastShardFile());
}

TEST_P(MirroredTest, AReplicaThatFailsEndsTheJob) {
  SmallJob job;
  // One pixel that is no id of the embedding: found in one replica's batch,
  // maybe after the first step.
  std::string images = ReadText(job.folder() / "train-images");
  images.back() = static_cast<char>(250);
  WriteText(job.folder() / "train-images", images);
  Process run = job.Run(
      Arguments(GetParam(), 2,
                {"--set",
                 "model.layers=[Input: {shape: [8, 8, 1]}, "
                 "Embedding: {input_dim: 250, output_dim: 2}, Flatten: {}, "
                 "Dense: {units: 4}]",
                 "--set", "data.train.scale=1", "--set", "data.test=null"}));
  EXPECT_THAT(run.Wait(kJobLimit), testing::AnyOf(1, 2));
  EXPECT_THAT(run.Errors(), HasSubstr("is no id: got 250"));
}

INSTANTIATE_TEST_SUITE_P(Strategies, MirroredTest,
                         testing::Values("mirrored", "central_storage"));

TEST(DevicesTest, OtherStrategiesTakeOneDevice) {
  SmallJob job;
  Process run = job.Run({"--set", "devices=2"});
  EXPECT_EQ(run.Wait(kJobLimit), 2);
  EXPECT_THAT(run.Errors(),
              HasSubstr("devices: strategy parameter_server takes 1 device in "
                        "each worker, got 2"));
}

}  // namespace
}  // namespace paceline
