#include "worker/inspection/data_report.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/job/job_reader.h"
#include "common/remote_file/remote_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/inspection/data_report_text.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr int kExamples = 50;

constexpr char kClasses[] = R"(name: table
strategy: mirrored
model:
  layers:
    - Input: {shape: [2], name: table}
    - Dense: {units: 3, name: kind}
loss: {SparseCategoricalCrossentropy: {from_logits: true}}
optimizer: {SGD: {learning_rate: 0.1}}
data:
  train:
    csv: {file: data.csv, features: [a, b], labels: kind, classes: [red, green, "b\tlue"]}
    scale: 0.5
    cache: memory
  validation_split: 0.2
batch_size_per_replica: 8
epochs: 2
)";

constexpr char kNumbers[] = R"(name: numbers
strategy: mirrored
model:
  layers:
    - Input: {shape: [2]}
    - Dense: {units: 1}
loss: {MeanSquaredError: {}}
optimizer: {SGD: {learning_rate: 0.1}}
data:
  train: {csv: {file: data.csv, features: [a, b], labels: LABELS}}
  test: {csv: {file: data.csv, features: [a, b], labels: b}}
batch_size_per_replica: 8
epochs: 2
)";

class DataReportTest : public testing::Test {
 protected:
  DataReportTest() : folder_(testing::TempDir() + "data_report_test/") {
    std::filesystem::create_directories(folder_);
    // Sorted by kind: 25 red, 15 green, 10 blue.
    std::string csv = "a,b,kind,even\n";
    for (int i = 0; i < kExamples; ++i) {
      const char* kind = i < 25 ? "red" : i < 40 ? "green" : "b\tlue";
      absl::StrAppend(&csv, i, ",", -2 * i, ",", kind, ",", 1 - i % 2, "\n");
    }
    EXPECT_TRUE(WriteFileAtomically(folder_ + "data.csv", csv).ok());
  }
  ~DataReportTest() override { std::filesystem::remove_all(folder_); }

  absl::StatusOr<DataReport> Report(std::string text,
                                    const DataReportRequest& request = {},
                                    const std::string& labels = "b") {
    if (const size_t at = text.find("LABELS"); at != std::string::npos) {
      text.replace(at, 6, labels);
    }
    EXPECT_TRUE(WriteFileAtomically(folder_ + "job.yaml", text).ok());
    const absl::StatusOr<v1::Job> job = ReadJobFile(folder_ + "job.yaml", {});
    if (!job.ok()) return job.status();
    return MakeDataReport(*job, request, RemoteFiles({}));
  }

  const std::string folder_;
};

std::vector<int64_t> CountsOf(const ArrayReport& label) {
  std::vector<int64_t> counts;
  for (const ClassReport& each : label.classes) counts.push_back(each.examples);
  return counts;
}

TEST_F(DataReportTest, CountsWhatTheModelGets) {
  const absl::StatusOr<DataReport> report = Report(kClasses);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->job, "table");
  ASSERT_THAT(report->sets, SizeIs(2));
  const SetReport& train = report->sets[0];
  EXPECT_EQ(train.name, "data.train");
  EXPECT_EQ(train.examples, 40);
  EXPECT_EQ(train.counted, 40);
  EXPECT_EQ(train.step_size, 8);
  EXPECT_EQ(train.steps_per_epoch, 5);
  ASSERT_THAT(train.inputs, SizeIs(1));
  const ArrayReport& input = train.inputs[0];
  EXPECT_EQ(input.name, "table");
  EXPECT_EQ(input.shape, Shape{2});
  EXPECT_THAT(input.origin, HasSubstr("data.csv"));
  // After `scale`.
  EXPECT_EQ(input.values.count(), 80);
  EXPECT_EQ(input.values.min(), -39);
  EXPECT_EQ(input.values.max(), 19.5);
  ASSERT_THAT(train.labels, SizeIs(1));
  EXPECT_THAT(CountsOf(train.labels[0]), ElementsAre(25, 15, 0));
  EXPECT_EQ(train.labels[0].classes[1].name, "green");
  EXPECT_EQ(train.labels[0].type, DataType::kInt32);

  const SetReport& rest = report->sets[1];
  EXPECT_EQ(rest.name, "data.validation_split");
  EXPECT_EQ(rest.examples, 10);
  EXPECT_THAT(CountsOf(rest.labels[0]), ElementsAre(0, 0, 10));
}

TEST_F(DataReportTest, CountsNoMoreThanIsAskedFor) {
  const absl::StatusOr<DataReport> report = Report(kClasses, {.examples = 27});
  ASSERT_TRUE(report.ok()) << report.status();
  const SetReport& train = report->sets[0];
  EXPECT_EQ(train.counted, 27);
  EXPECT_EQ(train.inputs[0].values.count(), 54);
  EXPECT_THAT(CountsOf(train.labels[0]), ElementsAre(25, 2, 0));
  EXPECT_EQ(train.labels[0].class_examples, 27);
}

TEST_F(DataReportTest, LabelsThatAreNoClassesHaveValues) {
  const absl::StatusOr<DataReport> report = Report(kNumbers);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->sets[1].name, "data.test");
  const ArrayReport& label = report->sets[0].labels[0];
  EXPECT_THAT(label.classes, IsEmpty());
  EXPECT_EQ(label.values.count(), kExamples);
  EXPECT_EQ(label.values.min(), -98);
}

TEST_F(DataReportTest, LabelsOfZeroAndOneAreClasses) {
  const absl::StatusOr<DataReport> report = Report(kNumbers, {}, "even");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(CountsOf(report->sets[0].labels[0]), ElementsAre(25, 25));
}

TEST_F(DataReportTest, SaysHowOftenAnEpochPassesOverTheData) {
  const absl::StatusOr<DataReport> once = Report(kNumbers);
  ASSERT_TRUE(once.ok()) << once.status();
  EXPECT_THAT(DataReportText(*once), Not(HasSubstr("passes")));
  EXPECT_EQ(DataReportJson(*once)["sets"][0]["passes_per_epoch"], 1);
  const absl::StatusOr<DataReport> often =
      Report(absl::StrCat(kNumbers, "steps_per_epoch: 15\n"));
  ASSERT_TRUE(often.ok()) << often.status();
  EXPECT_THAT(DataReportText(*often),
              HasSubstr("data.train: 50 examples; epochs of 15 steps of 8, 2.4 "
                        "passes\n  values of the first 120 examples"));
  EXPECT_EQ(DataReportJson(*often)["sets"][0]["passes_per_epoch"], 2.4);
  EXPECT_EQ(DataReportJson(*often)["sets"][1]["passes_per_epoch"], 1);
}

TEST_F(DataReportTest, ShowsSampleWeights) {
  std::string text = kNumbers;
  text.insert(text.find("labels: LABELS"), "sample_weight: a, ");
  const absl::StatusOr<DataReport> report = Report(text);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_THAT(report->sets[0].weights, SizeIs(1));
  const ArrayReport& weight = report->sets[0].weights[0];
  EXPECT_EQ(weight.values.count(), kExamples);
  EXPECT_EQ(weight.values.max(), kExamples - 1);
  EXPECT_THAT(report->sets[1].weights, IsEmpty());
  EXPECT_THAT(DataReportText(*report),
              HasSubstr("sample weight for dense: float32 (), read as float64 "
                        "() from "));
  EXPECT_EQ(
      DataReportJson(*report)["sets"][0]["sample_weights"][0]["values"]["max"],
      kExamples - 1);
}

void CollectKeys(const nlohmann::ordered_json& json,
                 std::set<std::string>& keys) {
  for (const auto& [key, value] : json.items()) {
    if (json.is_object()) keys.insert(key);
    if (value.is_structured()) CollectKeys(value, keys);
  }
}

TEST_F(DataReportTest, ThePageHasTheKeysOfTheJson) {
  std::set<std::string> keys = {"first_batch", "input",         "images",
                                "black",       "white",         "name",
                                "classes",     "class_examples"};
  for (const std::string& text :
       {std::string(kClasses), std::string(kNumbers)}) {
    const absl::StatusOr<DataReport> report = Report(text);
    ASSERT_TRUE(report.ok()) << report.status();
    CollectKeys(DataReportJson(*report), keys);
  }
  const absl::StatusOr<std::string> page =
      ReadFile(PACELINE_SOURCE_DIR "/docs/data_report.md", 1 << 20);
  ASSERT_TRUE(page.ok()) << page.status();
  for (const std::string& key : keys) {
    EXPECT_THAT(*page, HasSubstr(absl::StrCat("`", key, "`")));
  }
}

TEST_F(DataReportTest, ASheetNeedsAnImage) {
  const absl::Status status = Report(kClasses, {.wants_sheet = true}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              HasSubstr("--png: the model's inputs are table (2,); expected an "
                        "image"));
}

TEST_F(DataReportTest, TextIsSafeToPrintAndNamesWhatItCounts) {
  const absl::StatusOr<DataReport> report = Report(kClasses, {.examples = 5});
  ASSERT_TRUE(report.ok()) << report.status();
  const std::string text = DataReportText(*report);
  EXPECT_THAT(text, HasSubstr("data.train: 40 examples; epochs of 5 steps of "
                              "8\n"));
  EXPECT_THAT(text, HasSubstr("values of the first 5 examples"));
  EXPECT_THAT(text, HasSubstr("input table: float32 (2,), read as float64 "
                              "(2,)"));
  EXPECT_THAT(text, HasSubstr("3 classes, of the first 5 examples"));
  EXPECT_THAT(text, HasSubstr("b\\tlue"));
  const nlohmann::ordered_json json = DataReportJson(*report);
  EXPECT_EQ(json["sets"][0]["labels"][0]["classes"][2]["name"], "b\tlue");
  EXPECT_EQ(json["sets"][0]["counted_examples"], 5);
}

}  // namespace
}  // namespace paceline
