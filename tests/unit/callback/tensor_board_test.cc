// TensorBoard: which points Keras' callback writes, and their bytes.
#include "common/callback/tensor_board.h"

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/callback/event_record.h"
#include "common/callback/xplane.h"
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
      ElementsAre("logs/train batch_accuracy 13 0.5",
                  "logs/train batch_loss 13 1"));
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
              ElementsAre("logs/train batch_steps_per_second 9 6",
                          "logs/train batch_loss 9 1"));
  // A clock may stand still.
  EXPECT_THAT(PointsOf(list->BatchEnded(
                  {.count = 4, .steps = 13, .logs = logs, .seconds = 0})),
              ElementsAre("logs/train batch_loss 13 1"));
  // Those steps wait for the next point, as do those of a group without one.
  EXPECT_THAT(PointsOf(list->BatchEnded(
                  {.count = 1, .steps = 14, .logs = logs, .seconds = 0.5})),
              ElementsAre());
  EXPECT_THAT(PointsOf(list->BatchEnded(
                  {.count = 3, .steps = 17, .logs = logs, .seconds = 0.5})),
              ElementsAre("logs/train batch_steps_per_second 17 8",
                          "logs/train batch_loss 17 1"));
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
        std::pair("embeddings_metadata", json("names.tsv"))}) {
    const auto made =
        MakeCallbacks(JobWith(Board({{key, value}})), TestContext());
    EXPECT_EQ(made.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(made.status().message()),
                AllOf(HasSubstr(absl::StrCat("callbacks[0].", key, ": ")),
                      HasSubstr(" is not supported yet")));
  }
}

ProfileBatch StepsOf(const json& profile_batch) {
  const auto made = MakeCallbacks(
      JobWith(Board({{"profile_batch", profile_batch}})), TestContext());
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? (*made)->traced_steps() : ProfileBatch{-1, -1};
}

TEST(TensorBoard, TracesTheStepsOfKeras) {
  for (const auto& [profile_batch, first, last] :
       {std::tuple(json(0), 0, 0), std::tuple(json(7), 7, 7),
        std::tuple(json::array({3, 5}), 3, 5),
        std::tuple(json::array({4, 4}), 4, 4),
        std::tuple(json::array({0, 0}), 0, 0)}) {
    const ProfileBatch steps = StepsOf(profile_batch);
    EXPECT_EQ(steps.first, first) << profile_batch;
    EXPECT_EQ(steps.last, last) << profile_batch;
    EXPECT_EQ(steps.is_on(), first > 0);
  }
  EXPECT_TRUE(StepsOf({3, 5}).Contains(3) && StepsOf({3, 5}).Contains(5));
  EXPECT_FALSE(StepsOf({3, 5}).Contains(2) || StepsOf({3, 5}).Contains(6));
  // Keras accepts [0, 5], and traces nothing.
  for (const json& bad :
       {json(-1), json(1.5), json("2"), json(nullptr), json::array({5}),
        json::array({5, 4}), json::array({0, 5}), json::array({-1, 5}),
        json::array({1, 2, 3}), json::array({1, "2"}), json::array(),
        json(1e300), json::array({1, 1e18})}) {
    const auto made =
        MakeCallbacks(JobWith(Board({{"profile_batch", bad}})), TestContext());
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(
        std::string(made.status().message()),
        AllOf(HasSubstr("callbacks[0].profile_batch: "), HasSubstr("expected")))
        << bad;
  }
}

TEST(TensorBoard, WritesWhatWorkersSend) {
  const auto list = *MakeCallbacks(
      JobWith(Board({{"profile_batch", 2}, {"first_batch_images", 4}})),
      TestContext());
  EXPECT_EQ(list->first_batch_images(), 4);
  const Decision images = list->ImagesCame({{28, 30}, {"png"}});
  ASSERT_EQ(images.outputs.size(), 1);
  const auto& pictures = std::get<WriteImages>(images.outputs[0]);
  EXPECT_EQ(pictures.folder, "logs/train");
  EXPECT_EQ(pictures.step, 0);
  EXPECT_EQ(pictures.tag, "first_batch");
  EXPECT_EQ(pictures.images.size, (ImageSize{28, 30}));
  EXPECT_THAT(pictures.images.images, ElementsAre("png"));
  const auto trace = std::make_shared<const Trace>();
  const Decision came = list->TraceCame("worker-3", trace);
  ASSERT_EQ(came.outputs.size(), 1);
  const auto& write = std::get<WriteTrace>(came.outputs[0]);
  EXPECT_EQ(write.folder, "logs");
  EXPECT_EQ(write.task, "worker-3");
  EXPECT_EQ(write.trace, trace);
  const auto none =
      *MakeCallbacks(JobWith(Board(json::object())), TestContext());
  EXPECT_EQ(none->first_batch_images(), 0);
  EXPECT_FALSE(none->traced_steps().is_on());
  EXPECT_TRUE(none->ImagesCame({{28, 30}, {"png"}}).outputs.empty());
  EXPECT_TRUE(none->TraceCame("worker-3", trace).outputs.empty());
}

TEST(TensorBoard, DrawsExamplesThatAreImages) {
  CallbackContext context = TestContext();
  context.no_images = "the model's inputs are x (10); expected an image";
  const auto made =
      MakeCallbacks(JobWith(Board({{"first_batch_images", 4}})), context);
  EXPECT_EQ(std::string(made.status().message()),
            "callbacks[0].first_batch_images: got 4, and the model's inputs "
            "are x (10); expected an image; or 0");
  EXPECT_TRUE(MakeCallbacks(JobWith(Board(json::object())), context).ok());
  for (const json& bad : {json(-1), json(65), json(1.5), json("4")}) {
    EXPECT_THAT(
        std::string(MakeCallbacks(JobWith(Board({{"first_batch_images", bad}})),
                                  TestContext())
                        .status()
                        .message()),
        HasSubstr("callbacks[0].first_batch_images: "));
  }
}

TEST(TensorBoard, OneOfAListWantsTracesAndOneImages) {
  for (const std::string key : {"profile_batch", "first_batch_images"}) {
    json boards = json::array();
    for (const char* const folder : {"a", "b"}) {
      boards.push_back({{"TensorBoard", {{"log_dir", folder}, {key, 3}}}});
    }
    EXPECT_THAT(
        std::string(
            MakeCallbacks(JobWith(boards), TestContext()).status().message()),
        HasSubstr(absl::StrCat("callbacks[1].", key,
                               ": an earlier callback has some")));
    boards[0]["TensorBoard"][key] = 0;
    EXPECT_TRUE(MakeCallbacks(JobWith(boards), TestContext()).ok());
  }
}

// As TensorFlow's xplane_pb2 writes it, which orders names by itself.
TEST(XPlane, HasTheBytesOfTensorFlow) {
  Trace trace;
  trace.start_ns = 1'700'000'000'000'000'005;
  trace.lanes = {"replica 0", "data"};
  trace.names = {"wait", "step 1", "update"};
  trace.spans = {{.name = 0, .lane = 0, .begin_ns = 0, .duration_ns = 100},
                 {.name = 2, .lane = 0, .begin_ns = 200, .duration_ns = 0},
                 {.name = 0, .lane = 1, .begin_ns = 50, .duration_ns = 25},
                 {.name = 1, .lane = 0, .begin_ns = 0, .duration_ns = 300}};
  trace.dropped_spans = 7;
  EXPECT_EQ(absl::BytesToHexString(EncodeXSpace("worker-0", trace)),
            "0a9001080112092f686f73743a4350551a33080112097265706c69636120301885"
            "80a8b1e39fe7cb1722080802100018e0a71222080801100018a08d062206080310"
            "c09a0c1a1e0802120464617461188580a8b1e39fe7cb17220a080110d0860318a8"
            "c301220c0801120808011204776169742"
            "20e0802120a08021206737465702031220e0803120a08031206757064617465"
            "1a2a37207370616e732077657265206c656674206f75743a207468657265207765"
            "726520746f6f206d616e792208776f726b65722d30");
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
