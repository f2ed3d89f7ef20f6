// The task that evaluates checkpoints beside training.
#include <cmath>
#include <filesystem>
#include <optional>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kTfConfig[] = R"({"task": {"type": "evaluator", "index": 0}})";
constexpr char kKeepAll[] = "checkpoint.keep=10";

// The rows of evaluator.csv, header first.
std::vector<std::vector<std::string>> Rows(const SmallJob& job) {
  const std::string text = ReadText(job.output_dir() + "/evaluator.csv");
  std::vector<std::vector<std::string>> rows;
  for (absl::string_view line :
       absl::StrSplit(text, "\r\n", absl::SkipEmpty())) {
    rows.push_back(absl::StrSplit(line, ','));
  }
  return rows;
}

bool WaitForRows(const SmallJob& job, size_t count) {
  const absl::Time deadline = absl::Now() + kJobLimit;
  while (Rows(job).size() < count) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(20));
  }
  return true;
}

Process StartEvaluator(const SmallJob& job,
                       const std::vector<std::string>& arguments = {},
                       const std::string& tf_config = kTfConfig) {
  ProcessOptions options;
  options.command = {ProgramPath("worker"), "--job", job.path(), "--output",
                     job.output_dir()};
  options.command.insert(options.command.end(), arguments.begin(),
                         arguments.end());
  options.environment = {{"TF_CONFIG", tf_config}};
  options.output_path = job.folder() / "evaluator";
  return Process(options);
}

TEST(EvaluatorTest, EvaluatesTheCheckpointsOfALocalCluster) {
  SmallJob job;
  Process run = job.Run({"--set", "evaluator=true", "--set", kKeepAll});
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(run.Session(), IsEmpty());
  const auto rows = Rows(job);
  ASSERT_THAT(rows, SizeIs(4)) << job.Log("evaluator-0");
  EXPECT_THAT(rows[0], ElementsAre("step", "loss", "accuracy"));
  for (int epoch = 1; epoch <= 3; ++epoch) {
    EXPECT_EQ(rows[epoch][0], std::to_string(epoch * kStepsPerEpoch));
  }
  // The workers evaluated the same variables on the same examples.
  const nlohmann::json result = job.Result();
  const double loss = result.at("evaluation").at("loss");
  EXPECT_NEAR(std::stod(rows[3][1]), loss, 1e-5 * std::abs(loss));
  EXPECT_DOUBLE_EQ(std::stod(rows[3][2]),
                   result.at("evaluation").at("accuracy").get<double>());
  // It is no member.
  for (const auto& task : result.at("tasks")) {
    EXPECT_NE(task.at("type"), "evaluator");
  }
}

TEST(EvaluatorTest, EvaluatesTheValidationSplitUnderEveryStrategy) {
  SmallJob job;
  Process run = job.Run({"--set", "evaluator=true", "--set",
                         "strategy=mirrored", "--set", "devices=2", "--set",
                         "cluster=null", "--set", "data.validation_split=0.2"});
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  const auto rows = Rows(job);
  ASSERT_GE(rows.size(), 2) << job.Log("evaluator-0");
  const double loss = Column(job.Result(), "val_loss").back();
  EXPECT_NEAR(std::stod(rows.back()[1]), loss, 1e-5 * std::abs(loss));
}

// The checkpoint that ModelCheckpoint asks for after the last epoch has the
// step of the last one, but the variables of another epoch.
TEST(EvaluatorTest, EvaluatesTheVariablesThatWereRestored) {
  SmallJob job;
  Process run =
      job.Run({"--set", "evaluator=true", "--set", kKeepAll, "--set",
               "callbacks=[{ModelCheckpoint: {filepath: last.keras}}, "
               "{EarlyStopping: {monitor: loss, min_delta: 100, patience: 9, "
               "restore_best_weights: true}}]"});
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_TRUE(std::filesystem::exists(
      job.output_dir() +
      absl::StrFormat("/checkpoint/step-%012d-2", 3 * kStepsPerEpoch)));
  const auto rows = Rows(job);
  ASSERT_THAT(rows, SizeIs(4)) << job.Log("evaluator-0");
  EXPECT_EQ(rows[3][0], std::to_string(3 * kStepsPerEpoch));
  EXPECT_NE(rows[1][1], rows[2][1]);
  EXPECT_EQ(rows[3][1], rows[1][1]);
  const double loss = job.Result().at("evaluation").at("loss");
  EXPECT_NEAR(std::stod(rows[3][1]), loss, 1e-5 * std::abs(loss));
}

// Never a peer: it may come first, and go and come back.
TEST(EvaluatorTest, ByTfConfigInAnyOrder) {
  SmallJob job;
  const std::vector<std::string> longer = {"--set", "epochs=30"};
  // What an earlier run left is not this one's end.
  Process earlier = job.Run(longer);
  ASSERT_EQ(earlier.Wait(kJobLimit), 0) << earlier.Errors();
  Process first = StartEvaluator(job, longer);
  ASSERT_TRUE(WaitForRows(job, 2));
  EXPECT_EQ(first.Wait(absl::Milliseconds(500)), std::nullopt);

  const auto cluster = HandStartedCluster::OnLoopback(job, 1, 1, 2);
  Process ps = cluster.Start("ps", 0);
  Process worker_0 = cluster.Start("worker", 0);
  Process worker_1 = cluster.Start("worker", 1);
  Process chief = cluster.StartChief(longer);
  ASSERT_TRUE(WaitForEpochs(chief, 2));
  first.Signal(SIGKILL);
  // A cluster in its TF_CONFIG changes nothing.
  Process second =
      StartEvaluator(job, longer,
                     R"({"cluster": {"chief": ["a:1"], "evaluator": ["b:1"]},
          "task": {"type": "evaluator", "index": 0}})");
  EXPECT_EQ(chief.Wait(kJobLimit), 0) << chief.Errors();
  EXPECT_EQ(second.Wait(kJobLimit), 0) << second.Errors();
  EXPECT_EQ(Rows(job).back()[0], std::to_string(30 * kStepsPerEpoch));
}

TEST(EvaluatorTest, AJobThatWasDoneIsResumedAtOnce) {
  SmallJob job;
  Process run = job.Run({"--set", "evaluator=true"});
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  const size_t rows = Rows(job).size();
  Process again = job.Run({"--set", "evaluator=true", "--resume"});
  ASSERT_EQ(again.Wait(kJobLimit), 0) << again.Errors();
  EXPECT_EQ(Rows(job).size(), rows);
}

// Checkpoints of another job are passed over if they were there before, and
// else an error.
TEST(EvaluatorTest, KnowsAnotherJobsCheckpoints) {
  SmallJob job;
  Process earlier = job.Run({"--set", "epochs=1"});
  ASSERT_EQ(earlier.Wait(kJobLimit), 0) << earlier.Errors();
  Process evaluator = StartEvaluator(job);
  EXPECT_EQ(evaluator.Wait(absl::Seconds(1)), std::nullopt);
  EXPECT_THAT(Rows(job), IsEmpty());
  Process run = job.Run({"--set", "seed=8"});
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_EQ(evaluator.Wait(kJobLimit), 2);
  EXPECT_THAT(evaluator.Errors(), HasSubstr("is of a job with fingerprint"));
}

TEST(EvaluatorTest, EndsWithAJobThatFails) {
  const std::vector<std::string> changes = {"--set", "epochs=100000", "--set",
                                            kKeepAll};
  for (const bool is_local : {true, false}) {
    SmallJob job;
    std::vector<std::string> arguments = changes;
    if (is_local)
      arguments.insert(arguments.end(), {"--set", "evaluator=true"});
    Process run = job.Run(arguments);
    std::optional<Process> beside;
    if (!is_local) beside.emplace(StartEvaluator(job, changes));
    ASSERT_TRUE(WaitForRows(job, 3)) << run.Errors();
    const pid_t ps = FindProcess(run.Session(), "ps_server", "--index=0");
    ASSERT_GT(ps, 0);
    kill(ps, SIGKILL);
    EXPECT_EQ(run.Wait(kJobLimit), 1);
    EXPECT_THAT(run.Session(), IsEmpty());
    if (is_local) continue;
    EXPECT_EQ(beside->Wait(kJobLimit), 0) << beside->Errors();
  }
}

TEST(EvaluatorTest, ItsDeathCostsTheJobNothing) {
  SmallJob job;
  Process run = job.Run(
      {"--set", "evaluator=true", "--set", "epochs=30", "--set", kKeepAll});
  ASSERT_TRUE(WaitForEpochs(run, 1));
  const pid_t evaluator =
      FindProcess(run.Session(), "worker", "--output=" + job.output_dir());
  ASSERT_GT(evaluator, 0);
  kill(evaluator, SIGKILL);
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(run.Errors(), HasSubstr("evaluator-0 exited with code 137"));
}

TEST(EvaluatorTest, WhatItCannotDoIsNamed) {
  SmallJob job;
  const auto expect = [](Process process, int code,
                         const std::string& message) {
    EXPECT_EQ(process.Wait(kJobLimit), code) << process.Errors();
    EXPECT_THAT(process.Errors(), HasSubstr(message));
  };
  expect(job.Run({"--set", "evaluator=true", "--set", "checkpoint=null"}), 2,
         "checkpoint: missing; expected for an evaluator");
  expect(StartEvaluator(job, {"--set", "checkpoint=null"}), 2,
         "checkpoint: missing; expected for an evaluator");
  expect(StartEvaluator(job, {"--checkpoint_timeout=0.3"}), 1,
         "no new checkpoint in " + job.output_dir() + "/checkpoint");
  Process alone({.command = {ProgramPath("worker")},
                 .environment = {{"TF_CONFIG", kTfConfig}},
                 .output_path = job.folder() / "alone"});
  expect(std::move(alone), 2, "evaluator-0 evaluates checkpoints; expected");
}

}  // namespace
}  // namespace paceline
