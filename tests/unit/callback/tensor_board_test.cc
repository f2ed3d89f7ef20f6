// TensorBoard: which points Keras' callback writes, and their bytes.
#include "common/callback/tensor_board.h"

#include <string>
#include <utility>
#include <variant>
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
using ::testing::AllOf;
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

TEST(TensorBoard, AsksForTheVariablesAtTheEndsOfEpochs) {
  const auto list = *MakeCallbacks(
      JobWith(Board({{"histogram_freq", 3}, {"write_images", true}})),
      TestContext());
  for (int epoch = 0; epoch < 7; ++epoch) {
    const Decision decision =
        list->EpochEnded({.epoch = epoch, .logs = {{"loss", 1}}});
    if (epoch % 3 != 0) {
      EXPECT_TRUE(decision.saves.empty());
      continue;
    }
    ASSERT_EQ(decision.saves.size(), 1);
    const auto& weights = std::get<WriteWeights>(decision.saves[0]);
    EXPECT_EQ(weights.folder, "logs/train");
    EXPECT_EQ(weights.step, epoch);
    EXPECT_TRUE(weights.has_images);
  }
  const auto without =
      *MakeCallbacks(JobWith(Board({{"write_images", true}})), TestContext());
  EXPECT_TRUE(without->EpochEnded({.logs = {{"loss", 1}}}).saves.empty());
  const auto bad =
      MakeCallbacks(JobWith(Board({{"histogram_freq", -1}})), TestContext());
  EXPECT_THAT(std::string(bad.status().message()),
              HasSubstr("callbacks[0].histogram_freq: "));
}

TEST(TensorBoard, WritesTheSpeed) {
  const json config = {{"write_steps_per_second", true}, {"update_freq", 4}};
  const auto list = *MakeCallbacks(JobWith(Board(config)), TestContext());
  const Logs logs = {{"loss", 1}};
  EXPECT_THAT(PointsOf(list->BatchEnded(
                  {.count = 3, .steps = 9, .logs = logs, .seconds = 0.5})),
              ElementsAre("logs/train batch_steps_per_second 8 6",
                          "logs/train batch_loss 8 1"));
  // A clock may stand still.
  EXPECT_THAT(PointsOf(list->BatchEnded(
                  {.count = 4, .steps = 13, .logs = logs, .seconds = 0})),
              ElementsAre("logs/train batch_loss 12 1"));
  // Those steps wait for the next point, as do those of a group without one.
  EXPECT_THAT(PointsOf(list->BatchEnded(
                  {.count = 1, .steps = 14, .logs = logs, .seconds = 0.5})),
              ElementsAre());
  EXPECT_THAT(PointsOf(list->BatchEnded(
                  {.count = 3, .steps = 17, .logs = logs, .seconds = 0.5})),
              ElementsAre("logs/train batch_steps_per_second 16 8",
                          "logs/train batch_loss 16 1"));
  EXPECT_THAT(PointsOf(list->BatchEnded(
                  {.count = 3, .steps = 20, .logs = logs, .seconds = 1})),
              ElementsAre("logs/train batch_steps_per_second 20 3",
                          "logs/train batch_loss 20 1"));
  EXPECT_THAT(PointsOf(list->EpochEnded({.epoch = 2,
                                         .logs = logs,
                                         .learning_rate = 0.125,
                                         .iterations = 30,
                                         .steps = 90,
                                         .epoch_iterations = 10,
                                         .seconds = 4})),
              ElementsAre("logs/train epoch_loss 2 1",
                          "logs/train epoch_learning_rate 2 0.125",
                          "logs/train epoch_steps_per_second 2 2.5"));
}

TEST(TensorBoard, SaysWhatItDoesNotWrite) {
  for (const auto& [key, value] :
       {std::pair("embeddings_freq", json(1)),
        std::pair("embeddings_metadata", json("names.tsv")),
        std::pair("profile_batch", json(2)),
        std::pair("profile_batch", json::array({10, 20}))}) {
    const auto made =
        MakeCallbacks(JobWith(Board({{key, value}})), TestContext());
    EXPECT_EQ(made.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(made.status().message()),
                AllOf(HasSubstr(absl::StrCat("callbacks[0].", key, ": ")),
                      HasSubstr(" is not supported yet")));
  }
}

// The data of a record that was written at time 0, without that time.
std::string DataOf(const std::string& record) {
  // Between the length with its checksum, and the checksum of the data.
  const std::string data =
      absl::BytesToHexString(record.substr(12, record.size() - 16));
  const std::string time = "09" + std::string(16, '0');
  EXPECT_EQ(data.substr(0, time.size()), time);
  return data.substr(time.size());
}

// These are as TensorFlow 2.21 and TensorBoard 2.21 write them.
TEST(EventRecord, HasTheBytesOfTensorFlow) {
  const std::string record = ScalarRecord(0, 1, "batch_loss", 4);
  EXPECT_EQ(DataOf(record),
            "10012a270a250a0a62617463685f6c6f7373420a0801120022"
            "04000080404a0b0a090a077363616c617273");
  EXPECT_EQ(record.substr(0, 8), std::string({52, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(EventRecord, HasTheBytesOfTensorFlowForAHistogram) {
  HistogramMaker maker;
  const float values[] = {0.5, 0.5};
  maker.Look(values);
  maker.Count(values);
  const std::string half = "000000000000e03f";
  std::string buckets;
  for (int i = 0; i < 29; ++i) {
    absl::StrAppend(&buckets, half, half, std::string(16, '0'));
  }
  absl::StrAppend(&buckets, half, half, "0000000000000040");
  EXPECT_EQ(DataOf(HistogramRecord(0, 2, "a/histogram", maker.Make())),
            absl::StrCat("10022a82060aff050a0b612f686973746f6772616d42df050802"
                         "12081202081e1202080322d005",
                         buckets, "4a0e0a0c0a0a686973746f6772616d73"));
}

TEST(EventRecord, HasTheBytesOfTensorFlowForImages) {
  const std::string png = absl::HexStringToBytes(
      "89504e470d0a1a0a0000000d4948445200000002000000010800000000d14920560000"
      "000b49444154089963f8cf0000020101002ab1b2250000000049454e44ae426082");
  EXPECT_EQ(
      DataOf(ImageRecord(0, 2, "a/image", /*height=*/1, /*width=*/2, {png})),
      absl::StrCat("10022a6d0a6b0a07612f696d6167654254080712041202080342"
                   "01324201314244",
                   absl::BytesToHexString(png), "4a0a0a080a06696d61676573"));
}

}  // namespace
}  // namespace paceline
