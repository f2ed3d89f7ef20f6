// Data in CSV files.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int kPixels = 64;
constexpr size_t kImagesHeaderBytes = 16;
constexpr size_t kLabelsHeaderBytes = 8;

constexpr char kJob[] = R"(name: csv
strategy: multi_worker_mirrored
cluster: {worker: 2}
seed: 7
model:
  layers:
    - Input: {shape: [64]}
    - Dense: {units: 16, activation: relu}
    - Dense: {units: 4}
loss: {SparseCategoricalCrossentropy: {from_logits: true}}
optimizer: {Adam: {learning_rate: 0.01}}
metrics: [accuracy]
data:
  train: {SOURCE}
  test: {csv: {file: test.csv, labels: quarter, classes: [nw, ne, sw, se]}, scale: 0.004}
batch_size_per_replica: 32
epochs: 3
checkpoint: {every_epochs: 3}
)";

constexpr char kCsvSource[] =
    "csv: {file: [train-0.csv, train-1.csv], labels: quarter, classes: [nw, "
    "ne, sw, se]}, scale: 0.004, shuffle: true";
// The same data.
constexpr char kIdxSource[] =
    "idx: {features: train-rows, labels: train-labels}, scale: 0.004, shuffle: "
    "true";

// The small job's images as rows of numbers.
class CsvTest : public testing::Test {
 protected:
  CsvTest() {
    WriteJob(kCsvSource);
    // Images as rows of pixels, in IDX.
    const std::string images = ReadText(job_.folder() / "train-images");
    std::string header = images.substr(0, 8);
    header[3] = 2;  // Dimensions.
    WriteText(job_.folder() / "train-rows",
              header + std::string("\0\0\0\x40", 4) +
                  images.substr(kImagesHeaderBytes));
    constexpr int kHalf = kTrainExamples / 2;
    WriteCsv("train-0.csv", "train", 0, kHalf);
    WriteCsv("train-1.csv", "train", kHalf, kTrainExamples);
    WriteCsv("test.csv", "test", 0, kTestExamples);
  }

  void WriteJob(const std::string& source) {
    std::string text = kJob;
    text.replace(text.find("SOURCE"), 6, source);
    WriteText(job_.path(), text);
  }

  // Writes the examples [begin, end) of IDX files: labels between the pixels,
  // and of some numbers in quotes.
  void WriteCsv(const std::string& name, const std::string& set, int begin,
                int end) {
    const std::string images = ReadText(job_.folder() / (set + "-images"));
    const std::string labels = ReadText(job_.folder() / (set + "-labels"));
    const char* const quarters[] = {"nw", "ne", "sw", "\"se\""};
    std::string text = "pixel0,quarter";
    for (int i = 1; i < kPixels; ++i) absl::StrAppend(&text, ",pixel", i);
    for (int i = begin; i < end; ++i) {
      for (int pixel = 0; pixel < kPixels; ++pixel) {
        const int value = static_cast<unsigned char>(
            images[kImagesHeaderBytes + i * kPixels + pixel]);
        if (pixel == 1) {
          absl::StrAppend(
              &text, ",",
              quarters[static_cast<int>(labels[kLabelsHeaderBytes + i])]);
        }
        absl::StrAppend(&text, pixel == 0 ? "\r\n" : ",", value,
                        pixel % 3 == 0 ? ".0" : "");
      }
    }
    WriteText(job_.folder() / name, text + "\r\n");
  }

  const SmallJob job_;
};

TEST_F(CsvTest, ARunIsTheSameAsWithTheNumbersInIdx) {
  std::vector<nlohmann::json> histories;
  for (const char* source : {kIdxSource, kCsvSource}) {
    WriteJob(source);
    Process run = job_.Run();
    ExpectExit(run, 0);
    histories.push_back(Column(job_.Result(), "loss"));
    EXPECT_THAT(job_.Result().at("evaluation").at("accuracy").get<double>(),
                Gt(0.9));
  }
  EXPECT_THAT(histories[0], SizeIs(3));
  EXPECT_EQ(histories[0], histories[1]);
}

TEST_F(CsvTest, ValidationPrintsTheFiles) {
  Process good = job_.Coordinator({"validate", job_.path()});
  ExpectExit(good, 0);
  EXPECT_THAT(good.Output(), AllOf(HasSubstr(job_.folder() / "train-0.csv"),
                                   HasSubstr(job_.folder() / "train-1.csv"),
                                   HasSubstr(job_.folder() / "test.csv")));
  std::filesystem::remove(job_.folder() / "train-1.csv");
  Process bad = job_.Coordinator({"validate", job_.path()});
  ExpectExit(bad, 2);
  EXPECT_THAT(bad.Errors(), HasSubstr(job_.folder() / "train-1.csv"));
}

// Before the first step.
TEST_F(CsvTest, ARowOfWrongLengthIsNamed) {
  const std::string text = ReadText(job_.folder() / "train-1.csv");
  WriteText(job_.folder() / "train-1.csv", text.substr(0, text.size() - 90));
  Process run = job_.Run();
  ExpectExit(run, 2);
  EXPECT_THAT(run.Errors() + job_.Log("worker-0"),
              HasSubstr(absl::StrCat(job_.folder() / "train-1.csv",
                                     ": line 302: the number of fields is ")));
}

// When the row comes.
TEST_F(CsvTest, AValueThatIsNoNumberEndsTheJob) {
  std::string text = ReadText(job_.folder() / "train-1.csv");
  text.replace(text.rfind(","), 1, ",x");
  WriteText(job_.folder() / "train-1.csv", text);
  Process run = job_.Run();
  ExpectExit(run, 1);
  EXPECT_THAT(run.Errors(),
              HasSubstr(absl::StrCat(job_.folder() / "train-1.csv",
                                     ": line 302: column \"pixel63\": is ")));
}

TEST_F(CsvTest, FeaturesOfAPredictionNeedNoLabels) {
  Process run = job_.Run();
  ExpectExit(run, 0);
  std::string text;
  for (const std::string& line : Lines(ReadText(job_.folder() / "test.csv"))) {
    const size_t begin = line.find(',');
    absl::StrAppend(&text, line.substr(0, begin),
                    line.substr(line.find(',', begin + 1)), "\n");
  }
  WriteText(job_.folder() / "features.csv", text);
  std::vector<std::string> outputs;
  for (const std::vector<std::string>& data :
       {std::vector<std::string>{"--job", job_.path()},
        {"--data", job_.folder() / "features.csv", "--scale", "0.004",
         "--batch-size", "32"}}) {
    std::vector<std::string> arguments = {
        "predict", job_.output_dir() + "/model.keras", "--output",
        job_.folder() / "out.npy"};
    arguments.insert(arguments.end(), data.begin(), data.end());
    Process predict = job_.Coordinator(arguments);
    ExpectExit(predict, 0);
    outputs.push_back(ReadText(job_.folder() / "out.npy"));
  }
  EXPECT_EQ(outputs[0], outputs[1]);
  EXPECT_THAT(outputs[0], HasSubstr("'shape': (150, 4)"));
}

}  // namespace
}  // namespace paceline
