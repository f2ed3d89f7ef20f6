// `coordinator predict`: from a model and examples to its outputs.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pointwise;
using ::testing::SizeIs;

constexpr char kScale[] = "0.00392156862745098";
constexpr char kFashionMnist[] = "/usr/share/datasets/fashion-mnist/";

// A job that has trained: predictions of its model.
class PredictTest : public ::testing::Test {
 protected:
  PredictTest() {
    Process run = job_.Run({"--set", "epochs=2", "--set", "cluster.ps=2"});
    EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  }

  std::string model() const { return job_.output_dir() + "/model.keras"; }
  std::string checkpoint() const { return job_.output_dir() + "/checkpoint"; }
  std::string LastCheckpoint() const {
    std::string last;
    for (const auto& each : std::filesystem::directory_iterator(checkpoint())) {
      last = std::max(last, each.path().string());
    }
    return last;
  }
  std::string output(const std::string& name) const {
    return job_.folder() / name;
  }

  Process Start(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = {"predict"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return job_.Coordinator(all);
  }

  // The bytes that it wrote to a file of this name.
  std::string Predict(const std::string& name,
                      std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--output", output(name)});
    Process predict = Start(arguments);
    EXPECT_EQ(predict.Wait(kJobLimit), 0) << predict.Errors();
    EXPECT_EQ(predict.Output(), output(name) + "\n");
    EXPECT_EQ(predict.Errors(), "");
    EXPECT_THAT(predict.Session(), IsEmpty());
    return ReadText(output(name));
  }

  const SmallJob job_;
};

using Rows = std::vector<std::vector<float>>;

Rows RowsOf(const std::string& csv) {
  Rows rows;
  for (const std::string& line : Lines(csv)) {
    std::vector<float>& row = rows.emplace_back();
    for (const absl::string_view number : absl::StrSplit(line, ',')) {
      EXPECT_TRUE(absl::SimpleAtof(number, &row.emplace_back())) << number;
    }
  }
  return rows;
}

// The images of an IDX file as NumPy's array.
std::string NpyOfImages(const std::string& idx) {
  constexpr size_t kHeaderBytes = 16;
  const std::string header =
      "{'descr': '|u1', 'fortran_order': False, 'shape': (150, 8, 8), }\n";
  std::string npy("\x93NUMPY\x01\x00", 8);
  npy += {static_cast<char>(header.size()), 0};
  return npy + header + idx.substr(kHeaderBytes);
}

// The most memory that a process had so far, in bytes; 0 once it has ended.
int64_t PeakMemory(pid_t pid) {
  for (const std::string& line :
       Lines(ReadText(absl::StrCat("/proc/", pid, "/status")))) {
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(": \t"), absl::SkipEmpty());
    int64_t kilobytes = 0;
    if (words.size() == 3 && words[0] == "VmHWM" &&
        absl::SimpleAtoi(words[1], &kilobytes)) {
      return kilobytes << 10;
    }
  }
  return 0;
}

// What stands before `count` images of float64.
std::string NpyStartOfDoubles(int64_t count) {
  std::string header =
      absl::StrCat("{'descr': '<f8', 'fortran_order': False, 'shape': (", count,
                   ", 8, 8), }\n");
  std::string npy("\x93NUMPY\x01\x00", 8);
  npy += {static_cast<char>(header.size()), 0};
  return npy + header;
}

// The share of `rows` whose largest element is at the place that the label
// names. `labels`: an IDX file.
double Accuracy(const Rows& rows, const std::string& labels) {
  constexpr size_t kHeaderBytes = 8;
  EXPECT_EQ(labels.size(), kHeaderBytes + rows.size());
  double right = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto largest = std::max_element(rows[i].begin(), rows[i].end());
    right += largest - rows[i].begin() == labels[kHeaderBytes + i];
  }
  return right / static_cast<double>(rows.size());
}

TEST_F(PredictTest, TheFileAndTheCheckpointGiveTheSameOnAllFormats) {
  const std::string expected =
      Predict("expected.npy", {model(), "--job", job_.path()});
  EXPECT_THAT(expected, HasSubstr("'descr': '<f4'"));
  EXPECT_THAT(expected, HasSubstr("'shape': (150, 4)"));
  const std::string images = job_.folder() / "test-images";
  EXPECT_EQ(Predict("a.npy", {checkpoint(), "--job", job_.path()}), expected);
  EXPECT_EQ(Predict("a.npy", {LastCheckpoint(), "--job", job_.path()}),
            expected);
  // On some processors the last bits depend on the size of a batch.
  const std::string batch = absl::StrCat(kBatchSize);
  EXPECT_EQ(Predict("b.npy", {model(), "--data", images, "--scale", kScale,
                              "--batch-size", batch}),
            expected);
  EXPECT_EQ(Predict("c.npy",
                    {model(), "--batch-size", batch, "--data",
                     absl::StrCat("{idx: {features: ", images, ", labels: none",
                                  "}, scale: ", kScale, "}")}),
            expected);
  WriteText(output("images.npy"), NpyOfImages(ReadText(images)));
  EXPECT_EQ(Predict("d.npy", {model(), "--data", output("images.npy"),
                              "--scale", kScale, "--batch-size", batch}),
            expected);
  const Rows rows = RowsOf(
      Predict("e.csv", {model(), "--job", job_.path(), "--device", "cpu"}));
  ASSERT_THAT(rows, SizeIs(kTestExamples));
  ASSERT_THAT(rows, Each(SizeIs(4)));
  for (size_t i = 0; i < rows.size(); ++i) {
    // Nine digits tell all float32 apart.
    EXPECT_EQ(std::memcmp(rows[i].data(),
                          expected.data() + expected.size() -
                              (rows.size() - i) * 4 * sizeof(float),
                          4 * sizeof(float)),
              0)
        << i;
  }
  EXPECT_DOUBLE_EQ(Accuracy(rows, ReadText(job_.folder() / "test-labels")),
                   job_.Result().at("evaluation").at("accuracy"));
}

TEST_F(PredictTest, WrongUseIsNamedAndLeavesNothing) {
  const std::string images = job_.folder() / "test-images";
  const std::string npy = output("p.npy");
  WriteText(
      job_.folder() / "no_test.yaml",
      ReadText(job_.path()).substr(0, ReadText(job_.path()).find("  test:")) +
          "batch_size_per_replica: 64\n");
  struct {
    std::vector<std::string> arguments;
    std::string message;
  } const cases[] = {
      {{}, "MODEL"},
      {{model(), "--data", images}, "--output"},
      {{model(), "--output", npy}, "neither --job nor --data is given"},
      {{model(), "--output", npy, "--job", job_.path(), "--data", images},
       "--job and --data are both given"},
      {{model(), "--output", output("p.txt"), "--data", images},
       "p.txt, expected a file that ends in .npy or .csv"},
      {{model(), "--output", output("none/p.npy"), "--data", images},
       "folder " + output("none")},
      {{job_.folder() / "none.keras", "--output", npy, "--data", images},
       "none.keras"},
      {{images, "--output", npy, "--data", images},
       "test-images: is no zip archive"},
      {{job_.folder().path(), "--output", npy, "--data", images},
       job_.folder().path()},
      {{absl::StrCat(PACELINE_SOURCE_DIR,
                     "/tests/integration/fixtures/checkpoint-v1/checkpoint"),
        "--output", npy, "--data", images},
       "was written by an earlier release"},
      {{model(), "--output", npy, "--data", job_.folder() / "none"},
       job_.folder() / "none"},
      {{model(), "--output", npy, "--data", job_.folder() / "test-labels"},
       "expected (8, 8, 1)"},
      {{model(), "--output", npy, "--data", "{idx: {feature: x}}"},
       "--data: idx.feature: unknown"},
      {{model(), "--output", npy, "--job", job_.folder() / "none.yaml"},
       "none.yaml"},
      {{model(), "--output", npy, "--job", job_.folder() / "no_test.yaml"},
       "data.test is missing"},
      {{model(), "--output", npy, "--job", job_.path(), "--scale", "2"},
       "--scale is for a file"},
      {{model(), "--output", npy, "--data", images, "--set", "seed=1"},
       "expected --job"},
      {{model(), "--output", npy, "--data", images, "--batch-size", "0"},
       "--batch-size"},
      {{model(), "--output", npy, "--data", images, "--device", "tpu"},
       "device: unknown device \"tpu\""}};
  for (const auto& [arguments, message] : cases) {
    Process predict = Start(arguments);
    EXPECT_EQ(predict.Wait(kJobLimit), 2) << message;
    EXPECT_THAT(predict.Errors(), HasSubstr(message));
    EXPECT_EQ(predict.Output(), "");
    EXPECT_FALSE(std::filesystem::exists(npy)) << message;
    EXPECT_FALSE(std::filesystem::exists(npy + ".tmp")) << message;
  }
}

TEST_F(PredictTest, AFailedPredictionLeavesTheOldFile) {
  const std::string path = output("old.npy");
  WriteText(path, "old");
  std::string images = ReadText(job_.folder() / "test-images");
  WriteText(job_.folder() / "cut", images.substr(0, images.size() - 1));
  Process predict =
      Start({model(), "--data",
             absl::StrCat("idx: {features: ", job_.folder() / "cut",
                          ", labels: none, stream: true}"),
             "--output", path});
  EXPECT_EQ(predict.Wait(kJobLimit), 2);
  EXPECT_THAT(predict.Errors(), HasSubstr(job_.folder() / "cut"));
  EXPECT_EQ(ReadText(path), "old");
}

TEST(PredictSeveralOutputsTest, EachHasAFile) {
  const SmallJob job;
  Process run = job.Run(
      {"--set", "epochs=1", "--set",
       "model={layers: [Input: {shape: [8, 8, 1]}, Flatten: {name: flat}, "
       "{Dense: {units: 1, name: number}, inputs: [flat]}, "
       "{Dense: {units: 4, name: class}, inputs: [flat]}], "
       "outputs: [number, class]}",
       "--set",
       "loss={number: mse, "
       "class: {SparseCategoricalCrossentropy: {from_logits: true}}}",
       "--set", "metrics={class: [accuracy]}", "--set",
       "data.train.idx.labels={number: train-labels, class: train-labels}",
       "--set",
       "data.test.idx.labels={number: test-labels, class: test-labels}"});
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  Process predict = job.Coordinator(
      {"predict", job.output_dir() + "/model.keras", "--data",
       job.folder() / "test-images", "--output", job.folder() / "p.npy"});
  ASSERT_EQ(predict.Wait(kJobLimit), 0) << predict.Errors();
  const std::vector<std::string> paths = Lines(predict.Output());
  ASSERT_THAT(paths, ElementsAre(job.folder() / "p-number.npy",
                                 job.folder() / "p-class.npy"));
  EXPECT_THAT(ReadText(paths[0]), HasSubstr("'shape': (150, 1)"));
  EXPECT_THAT(ReadText(paths[1]), HasSubstr("'shape': (150, 4)"));
  EXPECT_FALSE(std::filesystem::exists(job.folder() / "p.npy"));
}

TEST(PredictFashionMnistTest, TheAccuracyIsThatOfTheRun) {
  const std::string data = kFashionMnist;
  if (!std::filesystem::exists(data + "t10k-images-idx3-ubyte.gz")) {
    GTEST_SKIP() << "Debian's package dataset-fashion-mnist is not installed";
  }
  SmallJob job;
  Process run = job.Coordinator(
      {"run", PACELINE_SOURCE_DIR "/deploy/jobs/fashion_mnist.yaml", "--output",
       job.output_dir(), "--set", "epochs=1", "--set", "steps_per_epoch=60"});
  ASSERT_EQ(run.Wait(2 * kJobLimit), 0) << run.Errors();
  const std::string path = job.folder() / "p.csv";
  Process predict =
      job.Coordinator({"predict", job.output_dir() + "/model.keras", "--data",
                       data + "t10k-images-idx3-ubyte.gz", "--scale", kScale,
                       "--batch-size", "300", "--output", path});
  ASSERT_EQ(predict.Wait(kJobLimit), 0) << predict.Errors();
  Process unzip({.command = {"gzip", "-dc", data + "t10k-labels-idx1-ubyte.gz"},
                 .environment = {},
                 .output_path = job.folder() / "labels"});
  ASSERT_EQ(unzip.Wait(kJobLimit), 0);
  EXPECT_NEAR(Accuracy(RowsOf(ReadText(path)), unzip.Output()),
              job.Result().at("evaluation").at("accuracy").get<double>(), 1e-6);
}

// 600,000 images take 307 MB, of which a few batches are in memory.
TEST_F(PredictTest, MemoryDoesNotGrowWithTheExamples) {
  constexpr int64_t kImages = 600'000;
  constexpr int64_t kImageBytes = 64 * sizeof(double);
  const std::string last(kImageBytes, '\x3f');
  const std::string large = output("large.npy");
  WriteText(large, NpyStartOfDoubles(kImages));
  // All but the last image are zeros, which take no room on a disk.
  std::filesystem::resize_file(
      large, std::filesystem::file_size(large) + (kImages - 1) * kImageBytes);
  std::ofstream(large, std::ios::app | std::ios::binary) << last;
  WriteText(output("two.npy"),
            NpyStartOfDoubles(2) + std::string(kImageBytes, '\0') + last);
  const Rows expected =
      RowsOf(Predict("two.csv", {model(), "--data", output("two.npy")}));

  Process predict = Start({model(), "--data", large, "--output",
                           output("large.csv"), "--batch-size", "1000"});
  int64_t peak = 0;
  std::optional<int> code;
  while (!code) {
    peak = std::max(peak, PeakMemory(predict.pid()));
    code = predict.Wait(absl::Milliseconds(20));
  }
  EXPECT_EQ(*code, 0) << predict.Errors();
  EXPECT_GT(peak, 0);
  EXPECT_LT(peak, 250 << 20);
  const std::vector<std::string> lines = Lines(ReadText(output("large.csv")));
  ASSERT_THAT(lines, SizeIs(kImages));
  EXPECT_THAT(RowsOf(lines.front())[0],
              Pointwise(FloatNear(1e-5f), expected[0]));
  EXPECT_EQ(lines[kImages / 2], lines.front());
  EXPECT_THAT(RowsOf(lines.back())[0],
              Pointwise(FloatNear(1e-5f), expected[1]));
}

}  // namespace
}  // namespace paceline
