// TensorBoard: which points Keras' callback writes, and their bytes.
#include "common/callback/tensor_board.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/callback/event_record.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/callback/callback_runs.h"

namespace paceline {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

json Board(const json& config) {
  return json::array({{{"TensorBoard", config}}});
}

// Each point as "folder tag step value".
std::vector<std::string> PointsOf(const Decision& decision) {
  std::vector<std::string> points;
  for (const CallbackOutput& output : decision.outputs) {
    const auto* const write = std::get_if<WriteScalars>(&output);
    if (write == nullptr) continue;
    for (const auto& [tag, value] : write->scalars) {
      points.push_back(
          absl::StrCat(write->folder, " ", tag, " ", write->step, " ", value));
    }
  }
  return points;
}

TEST(TensorBoard, WritesThePointsOfKeras) {
  const auto list =
      *MakeCallbacks(JobWith(Board(json::object())), TestContext());
  const Decision decision = list->EpochEnded({.epoch = 2,
                                              .logs = {{"accuracy", 0.5},
                                                       {"loss", 1},
                                                       {"val_accuracy", 0.25},
                                                       {"val_loss", 2}},
                                              .learning_rate = 0.125,
                                              .iterations = 30});
  EXPECT_THAT(PointsOf(decision),
              ElementsAre("logs/validation evaluation_accuracy_vs_iterations "
                          "30 0.25",
                          "logs/validation evaluation_loss_vs_iterations 30 2",
                          "logs/train epoch_accuracy 2 0.5",
                          "logs/train epoch_loss 2 1",
                          "logs/train epoch_learning_rate 2 0.125",
                          "logs/validation epoch_accuracy 2 0.25",
                          "logs/validation epoch_loss 2 2"));
}

TEST(TensorBoard, WritesTheGraphOnce) {
  const v1::Job job = JobWith(Board({{"log_dir", "./board"}}));
  const auto list = *MakeCallbacks(job, TestContext());
  const Decision first = list->EpochBegan({});
  ASSERT_EQ(first.outputs.size(), 1);
  EXPECT_EQ(std::get<WriteModelGraph>(first.outputs[0]).folder, "board/train");
  const auto resumed = *MakeCallbacks(job, TestContext());
  ASSERT_TRUE(resumed->Restore(list->Save(), "callbacks").ok());
  EXPECT_TRUE(resumed->EpochBegan({.epoch = 1}).outputs.empty());
}

TEST(TensorBoard, WritesPointsOfBatches) {
  const auto list =
      *MakeCallbacks(JobWith(Board({{"update_freq", 4}})), TestContext());
  ASSERT_TRUE(list->hears_batches());
  const Logs logs = {{"accuracy", 0.5}, {"loss", 1}};
  EXPECT_THAT(
      PointsOf(list->BatchEnded({.count = 3, .steps = 3, .logs = logs})),
      ElementsAre());
  EXPECT_THAT(
      PointsOf(list->BatchEnded({.count = 1, .steps = 4, .logs = logs})),
      ElementsAre("logs/train batch_accuracy 4 0.5",
                  "logs/train batch_loss 4 1"));
  EXPECT_THAT(
      PointsOf(list->BatchEnded({.count = 9, .steps = 13, .logs = logs})),
      ElementsAre("logs/train batch_accuracy 12 0.5",
                  "logs/train batch_loss 12 1"));
  const auto each =
      *MakeCallbacks(JobWith(Board({{"update_freq", "batch"}})), TestContext());
  EXPECT_THAT(
      PointsOf(each->BatchEnded({.count = 2, .steps = 15, .logs = logs})),
      ElementsAre("logs/train batch_accuracy 15 0.5",
                  "logs/train batch_loss 15 1"));
}

TEST(TensorBoard, HearsOfBatchesOnlyIfAsked) {
  const auto list =
      *MakeCallbacks(JobWith(Board({{"update_freq", "epoch"}})), TestContext());
  EXPECT_FALSE(list->hears_batches());
  for (const json& bad : {json(0), json("step"), json(1.5), json(nullptr)}) {
    const auto made =
        MakeCallbacks(JobWith(Board({{"update_freq", bad}})), TestContext());
    EXPECT_THAT(std::string(made.status().message()),
                HasSubstr("callbacks[0].update_freq"));
  }
}

TEST(TensorBoard, SaysWhatItDoesNotWrite) {
  const auto made =
      MakeCallbacks(JobWith(Board({{"histogram_freq", 1}})), TestContext());
  EXPECT_EQ(made.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(made.status().message()),
              HasSubstr("callbacks[0].histogram_freq: 1 is not supported yet"));
}

// As TensorFlow writes it.
TEST(EventRecord, HasTheBytesOfTensorFlow) {
  const std::string record = ScalarRecord(0, 1, "batch_loss", 4);
  // Between the length with its checksum, and the checksum of the data.
  const std::string data = record.substr(12, record.size() - 16);
  EXPECT_EQ(absl::BytesToHexString(data),
            absl::StrCat("09", std::string(16, '0'),
                         "10012a270a250a0a62617463685f6c6f7373420a0801120022"
                         "04000080404a0b0a090a077363616c617273"));
  EXPECT_EQ(record.substr(0, 8),
            std::string({static_cast<char>(data.size()), 0, 0, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace paceline
