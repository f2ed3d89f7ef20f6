// What a job can say of its cluster, data and steps, each tried by a run.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::ContainsRegex;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Pointwise;
using ::testing::SizeIs;

constexpr char kValidation[] =
    "data.validation={idx: {features: test-images, labels: test-labels}, "
    "scale: 0.00392156862745098}";

// Runs the job with each override; expects success.
nlohmann::json RunWith(const SmallJob& job,
                       const std::vector<std::string>& overrides) {
  std::vector<std::string> arguments;
  for (const std::string& text : overrides) {
    arguments.insert(arguments.end(), {"--set", text});
  }
  Process run = job.Run(arguments);
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(run.Session(), IsEmpty());
  return job.Result();
}

// How many shards hold parts of each variable, by the last checkpoint.
std::map<std::string, int> PartCounts(const SmallJob& job) {
  std::map<std::string, int> counts;
  const std::filesystem::path folder = job.output_dir() + "/checkpoint";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const nlohmann::json manifest = ReadJson(entry.path() / "manifest.json");
    for (const auto& variable : manifest.at("variables")) {
      counts[variable.at("name")] =
          static_cast<int>(variable.at("parts").size());
    }
  }
  return counts;
}

// Of the variable whose name ends with `suffix`.
int PartsOf(const std::map<std::string, int>& counts,
            const std::string& suffix) {
  for (const auto& [name, count] : counts) {
    if (name.ends_with(suffix)) return count;
  }
  return 0;
}

TEST(JobOptionsTest, TwoParameterServersAndFourWorkers) {
  SmallJob job;
  const nlohmann::json result =
      RunWith(job, {"cluster={ps: 2, worker: 4}", "epochs=2"});
  EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
  EXPECT_THAT(result.at("tasks"), SizeIs(6));
}

TEST(JobOptionsTest, MoreWorkersThanBatches) {
  SmallJob job;
  const nlohmann::json result = RunWith(
      job, {"cluster.worker=3", "batch_size_per_replica=400", "epochs=2"});
  EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
  EXPECT_THAT(Column(result, "steps"), Each(2));
}

TEST(JobOptionsTest, GlobalBatchSizeIsSharedOut) {
  SmallJob job;
  const nlohmann::json result = RunWith(
      job,
      {"batch_size_per_replica=null", "global_batch_size=128", "epochs=1"});
  EXPECT_THAT(Column(result, "steps"), ElementsAre(kStepsPerEpoch));
}

TEST(JobOptionsTest, ValidationSet) {
  SmallJob job;
  const nlohmann::json result = RunWith(job, {kValidation});
  EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
  // The set is that of the test, and the last epoch's variables are those that
  // the test sees.
  const auto& evaluation = result.at("evaluation");
  EXPECT_NEAR(Column(result, "val_loss").back(), evaluation.at("loss"), 1e-5);
  EXPECT_DOUBLE_EQ(Column(result, "val_accuracy").back(),
                   evaluation.at("accuracy"));
}

// The epochs whose rows have values of a validation.
std::vector<int> ValidatedEpochs(const nlohmann::json& result) {
  std::vector<int> epochs;
  for (const auto& row : result.at("history")) {
    if (row.contains("val_loss") && row.contains("val_accuracy")) {
      epochs.push_back(row.at("epoch"));
    }
  }
  return epochs;
}

TEST(JobOptionsTest, BeginsAndValidatesWhenTheJobSays) {
  SmallJob job;
  const nlohmann::json result =
      RunWith(job, {kValidation, "epochs=6", "initial_epoch=2",
                    "validation_freq=[1, 4, 6]", "validation_steps=2"});
  EXPECT_THAT(Column(result, "epoch"), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
  EXPECT_THAT(ValidatedEpochs(result), ElementsAre(3, 5));
  // A share of the first two batches, and not of all examples.
  const double right = result.at("history").back().at("val_accuracy");
  EXPECT_NEAR(right * 2 * kBatchSize, std::round(right * 2 * kBatchSize), 1e-6);
  EXPECT_NE(result.at("history").back().at("val_loss"),
            result.at("evaluation").at("loss"));
  const std::vector<std::string> rows =
      Lines(ReadText(job.output_dir() + "/history.csv"));
  ASSERT_THAT(rows, SizeIs(5));
  EXPECT_EQ(rows[0],
            "epoch,accuracy,examples,learning_rate,loss,seconds,steps,"
            "val_accuracy,val_loss");
  EXPECT_THAT(rows[1], MatchesRegex("2,.*,10,NA,NA"));
  EXPECT_THAT(rows[2], MatchesRegex("3,.*,10,[0-9.e-]+,[0-9.e-]+"));
}

TEST(JobOptionsTest, AResumeKeepsToTheEpochsOfTheCheckpoint) {
  SmallJob job;
  RunWith(job,
          {kValidation, "epochs=3", "initial_epoch=1", "validation_freq=2"});
  Process run =
      job.Run({"--set", kValidation, "--set", "epochs=6", "--set",
               "initial_epoch=4", "--set", "validation_freq=2", "--resume"});
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  const nlohmann::json result = job.Result();
  EXPECT_THAT(Column(result, "epoch"), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(ValidatedEpochs(result), ElementsAre(1, 3, 5));
}

TEST(JobOptionsTest, ShowsWhatTheJobAsksFor) {
  SmallJob job;
  Process silent = job.Run({"--set", "verbose=0"});
  ASSERT_EQ(silent.Wait(kJobLimit), 0) << silent.Errors();
  EXPECT_THAT(silent.Output(), MatchesRegex("loss: [^\n]*\n"))
      << "the evaluation alone";
  Process bars = job.Run({"--set", "verbose=1", "--set", "progress=keras2"});
  ASSERT_EQ(bars.Wait(kJobLimit), 0) << bars.Errors();
  EXPECT_THAT(bars.Output(),
              ContainsRegex("\r10/10 \\[={30}\\] - [0-9]+s [0-9]+[mu]?s/step - "
                            "loss: [0-9.]+ - accuracy: [0-9.]+ *\n"));
  // The evaluation of 150 examples by 64.
  EXPECT_THAT(bars.Output(),
              ContainsRegex("\r3/3 \\[={30}\\] - [0-9]+s [0-9]+[mu]?s/step - "
                            "loss: [0-9.]+ - accuracy: [0-9.]+ *\n"
                            "loss: [0-9.]+ - accuracy: [0-9.]+\n$"));
}

TEST(JobOptionsTest, ArraysNamedByTheModelsLayers) {
  SmallJob job;
  const nlohmann::json result =
      RunWith(job, {"data.train.idx.features={input_layer: train-images}",
                    "data.train.idx.labels={dense_1: train-labels}"});
  EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
}

// Of one worker, since asynchronous ones have no fixed order.
TEST(JobOptionsTest, AStreamTrainsAsArraysInMemoryDo) {
  std::vector<std::string> tensors;
  for (const char* stream : {"false", "true"}) {
    SmallJob job;
    const nlohmann::json result =
        RunWith(job, {"cluster.worker=1", "epochs=2",
                      "data.train.shuffle=false", "data.validation_split=0.25",
                      absl::StrCat("data.train.idx.stream=", stream)});
    EXPECT_THAT(Column(result, "examples"), Each(450));
    tensors.push_back(job.LastShardTensors());
  }
  EXPECT_EQ(tensors[0], tensors[1]);
}

TEST(JobOptionsTest, ValidationSplitIsTakenFromTheTrainingSet) {
  SmallJob job;
  const nlohmann::json result =
      RunWith(job, {"data.validation_split=0.25", "epochs=2"});
  // Keras: the first int(601 × 0.75) examples are trained on.
  EXPECT_THAT(Column(result, "examples"), Each(450));
  EXPECT_THAT(Column(result, "val_accuracy"), Each(Ge(0)));
}

TEST(JobOptionsTest, StepsPerEpochRepeatTheData) {
  SmallJob job;
  const nlohmann::json result =
      RunWith(job, {"steps_per_epoch=13", "epochs=2"});
  EXPECT_THAT(Column(result, "steps"), Each(13));
}

TEST(JobOptionsTest, LogStepsWritesARowAStep) {
  SmallJob job;
  RunWith(job, {"log_steps=true", "epochs=2"});
  const std::vector<std::string> rows =
      Lines(ReadText(job.output_dir() + "/steps.csv"));
  ASSERT_THAT(rows, SizeIs(1 + 2 * kStepsPerEpoch));
  EXPECT_EQ(rows[0], "step,loss");
  std::vector<int> steps;
  for (size_t i = 1; i < rows.size(); ++i) {
    const std::vector<std::string> fields = absl::StrSplit(rows[i], ',');
    ASSERT_THAT(fields, SizeIs(2));
    steps.push_back(std::stoi(fields[0]));
    EXPECT_GT(std::stod(fields[1]), 0);
  }
  for (int step = 1; step <= 2 * kStepsPerEpoch; ++step) {
    EXPECT_EQ(steps[step - 1], step);
  }
}

// The losses in steps.csv, from step 1 on.
std::vector<double> StepLosses(const SmallJob& job) {
  std::vector<double> losses;
  const std::vector<std::string> rows =
      Lines(ReadText(job.output_dir() + "/steps.csv"));
  for (size_t i = 1; i < rows.size(); ++i) {
    const std::vector<std::string> fields = absl::StrSplit(rows[i], ',');
    EXPECT_EQ(fields.at(0), std::to_string(i));
    losses.push_back(std::stod(fields.at(1)));
  }
  return losses;
}

// With batches of 300 the last step of an epoch has one example: two replicas
// of three have nothing.
TEST(JobOptionsTest, StepsOfReplicasHaveTheLossOfAllOfThem) {
  const std::vector<std::vector<std::string>> ways = {
      {"strategy=mirrored", "cluster=null", "devices=1"},
      {"strategy=mirrored", "cluster=null", "devices=3"},
      {"strategy=central_storage", "cluster=null", "devices=3"},
      {"strategy=multi_worker_mirrored", "cluster={worker: 3}"},
      {"consistency=sync", "cluster={ps: 2, worker: 3}"}};
  for (const int batch : {64, 300}) {
    std::vector<double> expected;
    for (const std::vector<std::string>& way : ways) {
      SCOPED_TRACE(way.front());
      SmallJob job;
      std::vector<std::string> overrides = {
          "log_steps=true", "epochs=2", "batch_size_per_replica=null",
          absl::StrCat("global_batch_size=", batch)};
      overrides.insert(overrides.end(), way.begin(), way.end());
      RunWith(job, overrides);
      const std::vector<double> losses = StepLosses(job);
      if (expected.empty()) expected = losses;
      EXPECT_THAT(losses, Pointwise(DoubleNear(1e-4), expected));
    }
    // 601 examples.
    EXPECT_THAT(expected, SizeIs(2 * ((601 + batch - 1) / batch)));
  }
}

TEST(JobOptionsTest, ShuffleBufferAndReferenceDevice) {
  SmallJob job;
  const nlohmann::json result =
      RunWith(job, {"data.train.shuffle=100", "device=reference", "epochs=2"});
  EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
}

// Which no machine has.
TEST(JobOptionsTest, RefusedDeviceIsTheErrorOfTheJob) {
  SmallJob job;
  Process run = job.Run({"--set", "device=cuda:4096"});
  EXPECT_EQ(run.Wait(kJobLimit), 1);
  const nlohmann::json error = job.Result().at("error");
  const auto message = error.at("message").get<std::string>();
  EXPECT_THAT(message, MatchesRegex("worker-[01]: device: cuda:4096: no .+"));
  EXPECT_THAT(error.at("task").get<std::string>(), MatchesRegex("worker-[01]"));
  EXPECT_THAT(run.Errors(), HasSubstr("error: " + message));
}

TEST(JobOptionsTest, PartitionersCutVariables) {
  // dense/kernel is [36, 16]: 2304 bytes.
  SmallJob job;
  RunWith(job, {"cluster.ps=3", "epochs=1", "partitioner={fixed: 3}"});
  EXPECT_EQ(PartsOf(PartCounts(job), "dense/kernel"), 3);

  RunWith(job, {"cluster.ps=3", "epochs=1", "partitioner={min_size: 1100}"});
  EXPECT_EQ(PartsOf(PartCounts(job), "dense/kernel"), 2);
  EXPECT_EQ(PartsOf(PartCounts(job), "dense_1/kernel"), 1);

  const nlohmann::json result =
      RunWith(job, {"cluster.ps=3", "epochs=1", "partitioner={max_size: 800}"});
  EXPECT_EQ(PartsOf(PartCounts(job), "dense/kernel"), 3);
  EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
}

}  // namespace
}  // namespace paceline
