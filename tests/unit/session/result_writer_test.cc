#include "common/session/leader/result_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "common/base/file.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

EpochRecord MakeRecord(int epoch, double loss, double seconds) {
  EpochRecord record;
  record.epoch = epoch;
  record.logs = {{"loss", loss}, {"accuracy", 0.5}};
  record.learning_rate = 0.001;
  record.steps = 10;
  record.examples = 600;
  record.seconds = seconds;
  return record;
}

TEST(ResultWriterTest, WritesASuccess) {
  JobResult result;
  result.name = "mnist";
  result.strategy = "parameter_server";
  result.history = {MakeRecord(0, 0.25, 3)};
  result.history[0].validation_logs = {{"val_loss", 0.3}};
  result.history[0].skipped_examples = 3;
  result.history[0].skipped_validation_examples = 1;
  result.evaluation = {{"loss", 0.125}, {"accuracy", 0.9}};
  result.first_step_seconds = 0.5;
  result.total_seconds = 4;
  result.tasks = {{{TaskType::kWorker, 1}, "10.0.0.2:2222", 1000, 0}};
  EXPECT_EQ(ResultJson(result), R"({
  "name": "mnist",
  "strategy": "parameter_server",
  "state": "SUCCEEDED",
  "error": null,
  "nonfinite_loss": null,
  "history": [
    {
      "epoch": 0,
      "loss": 0.25,
      "accuracy": 0.5,
      "val_loss": 0.3,
      "learning_rate": 0.001,
      "steps": 10,
      "examples": 600,
      "skipped_examples": 3,
      "skipped_validation_examples": 1,
      "seconds": 3.0
    }
  ],
  "evaluation": {
    "loss": 0.125,
    "accuracy": 0.9
  },
  "lost_checkpoints": {
    "count": 0,
    "error": null
  },
  "timing": {
    "first_step_seconds": 0.5,
    "total_seconds": 4.0,
    "examples_per_second": 200.0
  },
  "tasks": [
    {
      "type": "worker",
      "index": 1,
      "address": "10.0.0.2:2222",
      "peak_rss_bytes": 1000,
      "exit_code": 0
    }
  ]
}
)");
}

TEST(ResultWriterTest, WritesAFailure) {
  JobResult result;
  result.status = absl::UnavailableError("ps-0 at a:1 is silent \xff");
  result.blamed = TaskId{TaskType::kPs, 0};
  result.lost_checkpoints = {25, "the disk is full"};
  result.history = {MakeRecord(0, std::numeric_limits<double>::infinity(), 1)};
  result.tasks = {{{TaskType::kPs, 0}, "a:1", 0, std::nullopt}};
  const auto json = nlohmann::json::parse(ResultJson(result));
  EXPECT_EQ(json["state"], "FAILED");
  EXPECT_EQ(json["error"]["code"], "UNAVAILABLE");
  EXPECT_EQ(json["error"]["message"], "ps-0 at a:1 is silent \uFFFD");
  EXPECT_EQ(json["error"]["task"], "ps-0");
  EXPECT_TRUE(json["history"][0]["loss"].is_null());
  EXPECT_TRUE(json["nonfinite_loss"].is_null());
  EXPECT_TRUE(json["evaluation"].is_null());
  EXPECT_EQ(json["lost_checkpoints"]["count"], 25);
  EXPECT_EQ(json["lost_checkpoints"]["error"], "the disk is full");
  EXPECT_TRUE(json["timing"]["first_step_seconds"].is_null());
  EXPECT_TRUE(json["tasks"][0]["exit_code"].is_null());
}

TEST(ResultWriterTest, WritesALossThatIsNotFinite) {
  JobResult result;
  result.nonfinite_loss = {{TaskType::kWorker, 1}, 2, 25, -std::nan("")};
  const auto json = nlohmann::json::parse(ResultJson(result));
  EXPECT_EQ(json["nonfinite_loss"],
            nlohmann::json::parse(
                R"({"task": "worker-1", "epoch": 2, "step": 25,
                    "value": "nan"})"));
}

TEST(ResultWriterTest, WritesAStop) {
  JobResult result;
  result.status = absl::CancelledError("stopped by the user");
  const auto json = nlohmann::json::parse(ResultJson(result));
  EXPECT_EQ(json["state"], "STOPPED");
  EXPECT_EQ(json["error"]["code"], "CANCELLED");
  EXPECT_TRUE(json["error"]["task"].is_null());
}

TEST(ResultWriterTest, MedianLeavesTheFirstEpochOut) {
  EXPECT_EQ(MedianExamplesPerSecond({}), 0);
  std::vector<EpochRecord> history = {MakeRecord(0, 1, 6)};
  EXPECT_EQ(MedianExamplesPerSecond(history), 100);
  history.push_back(MakeRecord(1, 1, 3));
  EXPECT_EQ(MedianExamplesPerSecond(history), 200);
  history.push_back(MakeRecord(2, 1, 2));
  EXPECT_EQ(MedianExamplesPerSecond(history), 250);
}

TEST(ResultWriterTest, HistoryHasARowAnEpoch) {
  std::vector<EpochRecord> history = {MakeRecord(0, 0.1 + 0.2, 3),
                                      MakeRecord(1, 1e-7, 2.5)};
  history[1].validation_logs = {{"val_loss", 2}};
  EXPECT_EQ(
      HistoryCsv(history),
      "epoch,accuracy,examples,learning_rate,loss,seconds,steps,val_loss\r\n"
      "0,0.5,600,0.001,0.30000000000000004,3,10,NA\r\n"
      "1,0.5,600,0.001,1e-07,2.5,10,2\r\n");
}

TEST(ResultWriterTest, StepsAreMeansOfTheirExamples) {
  EXPECT_EQ(StepsCsv({{1, 2.5, 2}, {2, 0.5, 1}}),
            "step,loss\r\n1,1.25\r\n2,0.5\r\n");
}

TEST(ResultWriterTest, AResumeContinuesTheStepsOfTheRunBefore) {
  const char kEarlier[] = "step,loss\r\n1,4\r\n2,3.5\r\n3,nan\r\n4,9\r\n5,8";
  EXPECT_EQ(StepsCsv({{4, 2, 1}, {5, 1, 1}}, /*resumed_step=*/3, kEarlier),
            "step,loss\r\n1,4\r\n2,3.5\r\n3,nan\r\n4,2\r\n5,1\r\n");
  EXPECT_EQ(StepsCsv({}, /*resumed_step=*/2, kEarlier),
            "step,loss\r\n1,4\r\n2,3.5\r\n");
  // A shard that was behind takes up earlier.
  EXPECT_EQ(StepsCsv({{3, 2, 1}}, /*resumed_step=*/3, kEarlier),
            "step,loss\r\n1,4\r\n2,3.5\r\n3,2\r\n");
  EXPECT_EQ(
      StepsCsv({{4, 2, 1}}, /*resumed_step=*/3, "rubbish\n,,\r\n-1,3\r\n"),
      "step,loss\r\n4,2\r\n");
}

TEST(ResultWriterTest, WritesIntoTheOutputFolder) {
  const std::string dir = ::testing::TempDir() + "/result_writer_test";
  ASSERT_TRUE(MakeDirectories(dir).ok());
  JobResult result;
  ASSERT_TRUE(WriteResult(dir, result).ok());
  ASSERT_TRUE(WriteHistory(dir, {}).ok());
  ASSERT_TRUE(WriteSteps(dir, {{1, 3, 1}, {2, 2, 1}}, 0).ok());
  ASSERT_TRUE(WriteSteps(dir, {{2, 1, 1}}, /*resumed_step=*/1).ok());
  EXPECT_EQ(*ReadFile(dir + "/result.json", 1 << 20), ResultJson(result));
  EXPECT_EQ(*ReadFile(dir + "/steps.csv", 1 << 20),
            "step,loss\r\n1,3\r\n2,1\r\n");
  ASSERT_TRUE(WriteSteps(dir, {}, 0).ok());
  EXPECT_EQ(*ReadFile(dir + "/steps.csv", 1 << 20), "step,loss\r\n");
  std::filesystem::remove_all(dir);
  EXPECT_EQ(WriteResult(dir, result).code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace paceline
