// `coordinator run`: one command trains a job on a cluster of real processes.
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

std::vector<std::string> Keys(const nlohmann::json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

// One run; each test looks at another side of what it left.
class RunTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    job_ = new SmallJob;
    run_ = new Process(job_->Run());
    exit_code_ = run_->Wait(kJobLimit).value_or(-1);
    result_ = new nlohmann::json(job_->Result());
  }
  static void TearDownTestSuite() {
    delete run_;
    delete job_;
    delete result_;
  }
  void SetUp() override {
    ASSERT_EQ(exit_code_, 0) << run_->Errors();
    ASSERT_TRUE(result_->is_object());
  }

  static SmallJob* job_;
  static Process* run_;
  static int exit_code_;
  static nlohmann::json* result_;
};

SmallJob* RunTest::job_;
Process* RunTest::run_;
int RunTest::exit_code_;
nlohmann::json* RunTest::result_;

TEST_F(RunTest, ResultHasTheKeysThatScriptsHoldOnTo) {
  EXPECT_THAT(Keys(*result_),
              UnorderedElementsAre("name", "strategy", "state", "error",
                                   "nonfinite_loss", "history", "evaluation",
                                   "lost_checkpoints", "timing", "tasks"));
  EXPECT_EQ(result_->at("name"), "small");
  EXPECT_EQ(result_->at("strategy"), "parameter_server");
  EXPECT_EQ(result_->at("state"), "SUCCEEDED");
  EXPECT_TRUE(result_->at("error").is_null());
  for (const auto& row : result_->at("history")) {
    EXPECT_THAT(Keys(row), UnorderedElementsAre(
                               "epoch", "loss", "accuracy", "learning_rate",
                               "steps", "examples", "skipped_examples",
                               "skipped_validation_examples", "seconds"));
    EXPECT_TRUE(row.at("epoch").is_number_integer());
    EXPECT_TRUE(row.at("steps").is_number_integer());
    EXPECT_TRUE(row.at("examples").is_number_integer());
  }
  EXPECT_THAT(Keys(result_->at("evaluation")),
              UnorderedElementsAre("loss", "accuracy"));
}

TEST_F(RunTest, CountsEachExampleOnceAnEpoch) {
  EXPECT_THAT(Column(*result_, "epoch"), ElementsAre(0, 1, 2));
  EXPECT_THAT(Column(*result_, "examples"),
              ElementsAre(kTrainExamples, kTrainExamples, kTrainExamples));
  EXPECT_THAT(Column(*result_, "steps"),
              ElementsAre(kStepsPerEpoch, kStepsPerEpoch, kStepsPerEpoch));
}

TEST_F(RunTest, Learns) {
  const std::vector<double> losses = Column(*result_, "loss");
  EXPECT_LT(losses.back(), 0.7 * losses.front());
  EXPECT_THAT(Column(*result_, "learning_rate"), Each(DoubleNear(0.01, 1e-6)));
  EXPECT_GT(result_->at("evaluation").at("accuracy").get<double>(), 0.8);
  EXPECT_LT(result_->at("evaluation").at("loss").get<double>(), losses.front());
}

TEST_F(RunTest, TellsItsTiming) {
  const nlohmann::json& timing = result_->at("timing");
  EXPECT_THAT(Keys(timing),
              UnorderedElementsAre("first_step_seconds", "total_seconds",
                                   "examples_per_second"));
  const double first_step_seconds = timing.at("first_step_seconds");
  const double total_seconds = timing.at("total_seconds");
  EXPECT_GT(first_step_seconds, 0);
  EXPECT_LT(first_step_seconds, total_seconds);
  EXPECT_GT(timing.at("examples_per_second").get<double>(), 0);
  const std::vector<double> seconds = Column(*result_, "seconds");
  EXPECT_THAT(seconds, Each(Gt(0)));
  EXPECT_THAT(seconds, Each(Lt(total_seconds)));
}

TEST_F(RunTest, ListsItsTasks) {
  std::vector<std::string> names;
  for (const auto& task : result_->at("tasks")) {
    EXPECT_THAT(Keys(task),
                UnorderedElementsAre("type", "index", "address",
                                     "peak_rss_bytes", "exit_code"));
    names.push_back(task.at("type").get<std::string>() + "-" +
                    std::to_string(task.at("index").get<int>()));
    EXPECT_EQ(task.at("exit_code"), 0) << names.back();
    EXPECT_GT(task.at("peak_rss_bytes").get<int64_t>(), 1 << 20);
    if (task.at("type") == "ps") {
      EXPECT_THAT(task.at("address").get<std::string>(),
                  StartsWith("127.0.0.1:"));
    }
  }
  EXPECT_THAT(names, UnorderedElementsAre("ps-0", "worker-0", "worker-1"));
}

TEST_F(RunTest, KeepsTheLogOfEachTask) {
  for (const char* task : {"ps-0", "worker-0", "worker-1"}) {
    EXPECT_NE(job_->Log(task), "") << task;
  }
}

TEST_F(RunTest, WritesTheHistoryAsATable) {
  const std::vector<std::string> rows =
      Lines(ReadText(job_->output_dir() + "/history.csv"));
  ASSERT_THAT(rows, SizeIs(4));
  EXPECT_THAT(rows[0], StartsWith("epoch,"));
  EXPECT_THAT(rows[0], HasSubstr("accuracy"));
  EXPECT_THAT(rows[0], HasSubstr("loss"));
  for (int epoch = 0; epoch < 3; ++epoch) {
    EXPECT_THAT(rows[epoch + 1], StartsWith(std::to_string(epoch) + ","));
  }
}

TEST_F(RunTest, KeepsTheLastCheckpoint) {
  std::vector<std::string> names;
  const std::string folder = job_->output_dir() + "/checkpoint";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names, ElementsAre("step-000000000030"));
  const nlohmann::json manifest =
      ReadJson(folder + "/step-000000000030/manifest.json");
  EXPECT_EQ(manifest.at("step"), 3 * kStepsPerEpoch);
}

TEST_F(RunTest, WritesALineAnEpochIntoAPipe) {
  EXPECT_EQ(EpochLines(*run_), 3) << run_->Output();
  EXPECT_THAT(run_->Output(), HasSubstr("Epoch 3/3"));
  EXPECT_THAT(
      Lines(run_->Output()),
      Contains(ContainsRegex("^10/10 - .*accuracy: 0\\.[0-9]+ - loss: ")));
  EXPECT_THAT(run_->Output(), Not(HasSubstr("\r")));
}

TEST_F(RunTest, LeavesNoProcessBehind) {
  EXPECT_THAT(run_->Session(), IsEmpty());
}

// The tutorial's data, read and decompressed by real workers.
// `script` gives it a terminal, which Keras' bar redraws its line on.
// Shorter than the time between two looks at the progress.
TEST(RunShortEpochsTest, TellsItsFirstStep) {
  const SmallJob job;
  Process run = job.Run({"--set", "steps_per_epoch=1", "--set",
                         "data.test=null", "--set", "epochs=1"});
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_GT(job.Result().at("timing").at("first_step_seconds"), 0);
}

TEST(RunOnATerminalTest, ShowsKerasBar) {
  SmallJob job;
  Process run(
      {.command = {"script", "--quiet", "--return", "--command",
                   absl::StrCat(ProgramPath("coordinator"), " run ", job.path(),
                                " --output ", job.output_dir()),
                   "/dev/null"},
       .environment = {{"TF_CONFIG", ""}, {"TERM", "xterm"}},
       .output_path = job.folder() / "terminal"});
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Output();
  EXPECT_THAT(run.Output(), HasSubstr("Epoch 3/3"));
  EXPECT_THAT(run.Output(), HasSubstr("10/10"));
  EXPECT_THAT(run.Output(), HasSubstr("━━━━━━━━━━━━━━━━━━━━"));
  EXPECT_THAT(run.Output(), ContainsRegex("\r[^\n]*1[^\n]*/10"));
}

TEST(RunFashionMnistTest, TrainsAFewSteps) {
  const std::string path =
      PACELINE_SOURCE_DIR "/deploy/jobs/fashion_mnist.yaml";
  if (!std::filesystem::exists(
          "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz")) {
    GTEST_SKIP() << "Debian's package dataset-fashion-mnist is not installed";
  }
  SmallJob job;
  Process run =
      job.Coordinator({"run", path, "--output", job.output_dir(), "--set",
                       "epochs=1", "--set", "steps_per_epoch=60"});
  ASSERT_EQ(run.Wait(2 * kJobLimit), 0) << run.Errors();
  const nlohmann::json result = job.Result();
  EXPECT_THAT(Column(result, "steps"), ElementsAre(60));
  EXPECT_THAT(Column(result, "examples"), ElementsAre(60 * 64));
  EXPECT_GT(result.at("evaluation").at("accuracy").get<double>(), 0.5);
  EXPECT_THAT(run.Session(), IsEmpty());
}

}  // namespace
}  // namespace paceline
