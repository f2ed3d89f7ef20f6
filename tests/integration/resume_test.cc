// Checkpoints at work: `run --resume` and `evaluate`.
#include <signal.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

void ExpectSuccess(Process process) {
  EXPECT_EQ(process.Wait(kJobLimit), 0) << process.Errors();
  EXPECT_THAT(process.Session(), IsEmpty());
}

// The steps each shard had applied, by the manifest.
std::vector<int> ShardSteps(const nlohmann::json& manifest) {
  std::vector<int> steps;
  for (const auto& shard : manifest.at("shards")) {
    steps.push_back(shard.at("step"));
  }
  return steps;
}

TEST(ResumeTest, GoesOnAtTheSameStep) {
  SmallJob job;
  ExpectSuccess(job.Run({"--set", "epochs=2"}));
  EXPECT_THAT(ShardSteps(job.LatestManifest()),
              ElementsAre(2 * kStepsPerEpoch));
  const nlohmann::json before = job.Result();

  ExpectSuccess(job.Run({"--set", "epochs=4", "--resume"}));
  const nlohmann::json after = job.Result();
  EXPECT_THAT(Column(after, "epoch"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Column(after, "examples"), Each(kTrainExamples));
  EXPECT_THAT(ShardSteps(job.LatestManifest()),
              ElementsAre(4 * kStepsPerEpoch));
  // The rows of the first run are kept, and the third epoch starts where the
  // second had ended.
  EXPECT_EQ(after.at("history")[1].at("loss"),
            before.at("history")[1].at("loss"));
  EXPECT_LT(Column(after, "loss")[2], Column(before, "loss")[0]);
}

TEST(ResumeTest, AnotherModelIsRefusedAndTheHistoryStays) {
  SmallJob job;
  ExpectSuccess(job.Run({"--set", "epochs=2"}));
  const std::string history = job.output_dir() + "/history.csv";
  const std::string before = ReadText(history);
  Process run = job.Run({"--set", "epochs=3", "--set",
                         "model.layers[4].Dense.units=5", "--resume"});
  EXPECT_EQ(run.Wait(kJobLimit), 2) << run.Errors();
  EXPECT_EQ(ReadText(history), before);
  EXPECT_THAT(Column(job.Result(), "epoch"), ElementsAre(0, 1));
  ExpectSuccess(job.Run({"--set", "epochs=3", "--resume"}));
  EXPECT_THAT(Column(job.Result(), "epoch"), ElementsAre(0, 1, 2));
}

// One worker alone takes its batches in the same order each time.
TEST(ResumeTest, ToTheSameVariablesAndSlots) {
  SmallJob whole;
  ExpectSuccess(whole.Run({"--set", "cluster.worker=1"}));
  SmallJob parts;
  ExpectSuccess(parts.Run({"--set", "cluster.worker=1", "--set", "epochs=1"}));
  EXPECT_NE(parts.LastShardTensors(), whole.LastShardTensors());
  ExpectSuccess(parts.Run({"--set", "cluster.worker=1", "--resume"}));
  EXPECT_EQ(parts.LastShardTensors(), whole.LastShardTensors());
}

// The accumulators are in the checkpoint.
TEST(ResumeTest, InTheMiddleOfAnAccumulation) {
  constexpr int kSteps = 4;
  ASSERT_NE(kStepsPerEpoch % kSteps, 0);
  for (const auto& [strategy, cluster] :
       {std::pair("parameter_server", "{ps: 1, worker: 1}"),
        std::pair("mirrored", "{worker: 1}")}) {
    SCOPED_TRACE(strategy);
    const std::vector<std::string> arguments = {
        "--set",
        absl::StrCat("strategy=", strategy),
        "--set",
        absl::StrCat("cluster=", cluster),
        "--set",
        absl::StrCat("optimizer={SGD: {momentum: 0.9, "
                     "gradient_accumulation_steps: ",
                     kSteps, "}}")};
    SmallJob whole;
    ExpectSuccess(whole.Run(arguments));
    SmallJob parts;
    std::vector<std::string> first = arguments;
    first.insert(first.end(), {"--set", "epochs=1"});
    ExpectSuccess(parts.Run(first));
    Process other =
        parts.Run({"--set", absl::StrCat("strategy=", strategy), "--set",
                   absl::StrCat("cluster=", cluster), "--set",
                   "optimizer={SGD: {momentum: 0.9}}", "--resume"});
    EXPECT_EQ(other.Wait(kJobLimit), 2);
    EXPECT_THAT(other.Errors(),
                HasSubstr("optimizer.gradient_accumulation_steps: got 1, but "
                          "the checkpoint has gradients of "));
    std::vector<std::string> second = arguments;
    second.emplace_back("--resume");
    ExpectSuccess(parts.Run(second));
    EXPECT_EQ(parts.LastShardTensors(), whole.LastShardTensors());
  }
}

TEST(ResumeTest, AnotherNumberOfParameterServers) {
  SmallJob job;
  ExpectSuccess(job.Run({"--set", "epochs=2"}));
  const double accuracy = job.Result().at("evaluation").at("accuracy");
  // Two epochs were trained, so only the test set is evaluated again.
  ExpectSuccess(
      job.Run({"--set", "epochs=2", "--set", "cluster.ps=2", "--resume"}));
  EXPECT_THAT(Column(job.Result(), "epoch"), ElementsAre(0, 1));
  EXPECT_DOUBLE_EQ(job.Result().at("evaluation").at("accuracy"), accuracy);

  ExpectSuccess(
      job.Run({"--set", "epochs=3", "--set", "cluster.ps=2", "--resume"}));
  EXPECT_THAT(Column(job.Result(), "epoch"), ElementsAre(0, 1, 2));
  EXPECT_THAT(ShardSteps(job.LatestManifest()),
              ElementsAre(3 * kStepsPerEpoch, 3 * kStepsPerEpoch));
}

TEST(ResumeTest, AfterTheCoordinatorWasKilledInTheMiddle) {
  SmallJob job;
  {
    Process run =
        job.Run({"--set", "epochs=100000", "--set", "checkpoint.every_steps=7",
                 "--set", "checkpoint.keep=2"});
    ASSERT_TRUE(WaitForEpochs(run, 3)) << run.Errors();
    ASSERT_TRUE(
        WaitUntil(kJobLimit, [&] { return job.LatestManifest().is_object(); }));
    run.Signal(SIGKILL);
    EXPECT_EQ(run.Wait(kJobLimit), 128 + SIGKILL);
  }
  const int step = job.LatestManifest().at("step");
  // Epochs that the job had finished at the checkpoint, and three more.
  const int epochs = step / kStepsPerEpoch + 3;
  ExpectSuccess(job.Run({"--set", "epochs=" + std::to_string(epochs), "--set",
                         "cluster.ps=2", "--resume"}));
  const nlohmann::json result = job.Result();
  EXPECT_THAT(result.at("history"), SizeIs(epochs));
  EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
  EXPECT_THAT(ShardSteps(job.LatestManifest()), Each(epochs * kStepsPerEpoch));
}

TEST(ResumeTest, ARunThatStartsAnewKeepsOldCheckpointsAside) {
  SmallJob job;
  ExpectSuccess(job.Run({"--set", "epochs=2"}));
  ExpectSuccess(job.Run({"--set", "epochs=1"}));
  EXPECT_EQ(job.LatestManifest().at("step"), kStepsPerEpoch);
  EXPECT_TRUE(std::filesystem::exists(
      job.output_dir() + "/checkpoint.previous/step-000000000020"));
}

TEST(EvaluateTest, AgreesWithTheResultOfTheRun) {
  SmallJob job;
  ExpectSuccess(job.Run());
  const nlohmann::json trained = job.Result().at("evaluation");

  Process evaluate = job.Coordinator(
      {"evaluate", job.output_dir() + "/checkpoint", "--job", job.path(),
       "--output", job.folder() / "evaluation", "-o", "json"});
  ASSERT_EQ(evaluate.Wait(kJobLimit), 0) << evaluate.Errors();
  EXPECT_THAT(evaluate.Session(), IsEmpty());
  const auto printed = nlohmann::json::parse(evaluate.Output(), nullptr, false);
  ASSERT_TRUE(printed.is_object()) << evaluate.Output();
  EXPECT_DOUBLE_EQ(printed.at("accuracy"), trained.at("accuracy"));

  // Not where it would replace the run's results.
  Process again =
      job.Coordinator({"evaluate", job.output_dir() + "/checkpoint", "--job",
                       job.path(), "--output", job.output_dir()});
  EXPECT_EQ(again.Wait(kJobLimit), 2);
  EXPECT_THAT(again.Errors(),
              testing::HasSubstr("has the results and the checkpoint of a "
                                 "run; expected another folder"));
  EXPECT_EQ(job.Result().at("evaluation"), trained);
  EXPECT_NEAR(printed.at("loss"), trained.at("loss"), 1e-5);
}

TEST(EvaluateTest, DamagedCheckpointIsNamed) {
  SmallJob job;
  ExpectSuccess(job.Run({"--set", "epochs=1"}));
  const std::string file =
      job.output_dir() +
      "/checkpoint/step-000000000010/shard-00000-of-00001.safetensors";
  std::string bytes = ReadText(file);
  ASSERT_FALSE(bytes.empty());
  bytes[bytes.size() - 5] ^= 1;
  WriteText(file, bytes);
  Process evaluate =
      job.Coordinator({"evaluate", job.output_dir() + "/checkpoint", "--job",
                       job.path(), "--output", job.folder() / "evaluation"});
  EXPECT_EQ(evaluate.Wait(kJobLimit), 2);
  EXPECT_THAT(evaluate.Errors(), testing::HasSubstr("shard-00000-of-00001"));
}

}  // namespace
}  // namespace paceline
