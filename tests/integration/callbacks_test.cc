// Callbacks at work: what they decide, what they write, and a resume.
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A loss that falls by less than 100 in an epoch does not get better. So the
// first epoch is the best, and each one after it counts.
constexpr char kStopping[] =
    "callbacks=[{EarlyStopping: {monitor: loss, min_delta: 100, patience: 2, "
    "verbose: 1}}, {CSVLogger: {filename: logs/epochs.csv}}]";

std::vector<std::string> With(std::vector<std::string> arguments,
                              const std::string& callbacks) {
  for (const std::string& set : {std::string("epochs=9"), callbacks}) {
    arguments.emplace_back("--set");
    arguments.push_back(set);
  }
  return arguments;
}

int CountLines(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

class CallbacksTest
    : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(CallbacksTest, EndTrainingEarlyUnderEachStrategy) {
  SmallJob job;
  Process run = job.Run(With(GetParam(), kStopping));
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(Column(job.Result(), "epoch"), ElementsAre(0, 1, 2));
  EXPECT_THAT(run.Output(), HasSubstr("Epoch 3/9"));
  EXPECT_THAT(run.Output(), Not(HasSubstr("Epoch 4/9")));
  EXPECT_THAT(run.Output(), HasSubstr("\nEpoch 3: early stopping\n"));
  const std::string csv = ReadText(job.output_dir() + "/logs/epochs.csv");
  EXPECT_THAT(csv, StartsWith("epoch,"));
  EXPECT_EQ(CountLines(csv), 4);
  // The test set is evaluated, and the model is written, as at any end.
  EXPECT_FALSE(job.Result().at("evaluation").is_null());
  EXPECT_TRUE(std::filesystem::exists(job.output_dir() + "/model.keras"));
}

INSTANTIATE_TEST_SUITE_P(Strategies, CallbacksTest,
                         ::testing::Values(std::vector<std::string>{},
                                           std::vector<std::string>{
                                               "--set", "strategy=mirrored",
                                               "--set", "cluster={worker: 1}",
                                               "--set", "devices=2"}));

TEST(CallbacksResumeTest, GoOnWithTheirState) {
  SmallJob job;
  Process first = job.Run({"--set", "epochs=2", "--set", kStopping});
  EXPECT_EQ(first.Wait(kJobLimit), 0) << first.Errors();
  EXPECT_THAT(Column(job.Result(), "epoch"), SizeIs(2));
  Process second = job.Run(With({"--resume"}, kStopping));
  EXPECT_EQ(second.Wait(kJobLimit), 0) << second.Errors();
  // One epoch that did not get better lies before the resume, and one after it.
  EXPECT_THAT(Column(job.Result(), "epoch"), ElementsAre(0, 1, 2));
  EXPECT_THAT(second.Output(), HasSubstr("Epoch 3: early stopping\n"));
  EXPECT_EQ(CountLines(ReadText(job.output_dir() + "/logs/epochs.csv")), 4);
  Process third = job.Run({"--resume", "--set", "epochs=9"});
  EXPECT_EQ(third.Wait(kJobLimit), 2) << third.Errors();
  EXPECT_THAT(third.Errors(),
              HasSubstr("the checkpoint has the state of callbacks "
                        "EarlyStopping, CSVLogger; the job has no callbacks"));
}

TEST(CallbacksFileTest, AFileThatCannotBeWrittenEndsTheJob) {
  SmallJob job;
  std::filesystem::create_directories(job.output_dir() + "/epochs.csv");
  Process run =
      job.Run({"--set", "callbacks=[{CSVLogger: {filename: epochs.csv}}]"});
  EXPECT_EQ(run.Wait(kJobLimit), 1) << run.Errors();
  EXPECT_THAT(run.Errors(), HasSubstr("a callback failed: "));
  EXPECT_THAT(run.Errors(), HasSubstr("epochs.csv"));
}

TEST(CallbacksTensorBoardTest, GetsAFileForEachRun) {
  SmallJob job;
  Process run = job.Run({"--set", "data.validation_split=0.25", "--set",
                         "callbacks=[{TensorBoard: {log_dir: board, "
                         "update_freq: batch}}]"});
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  for (const auto& [name, tag] :
       {std::pair("train", "epoch_learning_rate"),
        std::pair("train", "batch_loss"),
        std::pair("validation", "evaluation_loss_vs_iterations")}) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(
             job.output_dir() + "/board/" + name)) {
      files.push_back(entry.path().string());
    }
    ASSERT_THAT(files, SizeIs(1));
    const std::string bytes = ReadText(files[0]);
    EXPECT_THAT(bytes, HasSubstr("brain.Event:2"));
    EXPECT_THAT(bytes, HasSubstr(tag));
  }
}

// The event files of the run "train", one for each process.
std::vector<std::string> TrainEvents(const SmallJob& job) {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(job.output_dir() + "/logs/train")) {
    paths.push_back(entry.path().string());
  }
  // Their names begin with the time.
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> files;
  for (const std::string& path : paths) files.push_back(ReadText(path));
  return files;
}

int CountOf(const std::string& bytes, const std::string& tag) {
  int count = 0;
  for (size_t at = bytes.find(tag); at != std::string::npos;
       at = bytes.find(tag, at + 1)) {
    ++count;
  }
  return count;
}

constexpr char kHistograms[] =
    "callbacks=[{TensorBoard: {histogram_freq: 2, write_images: true, "
    "write_steps_per_second: true}}]";

class WeightHistogramsTest
    : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(WeightHistogramsTest, AreWrittenUnderEachStrategyAndAfterAResume) {
  SmallJob job;
  std::vector<std::string> arguments = {"--set", "checkpoint=null", "--set",
                                        kHistograms};
  for (const std::string& set : GetParam()) {
    arguments.emplace_back("--set");
    arguments.push_back(set);
  }
  std::vector<std::string> first = arguments;
  first.insert(first.end(), {"--set", "epochs=3"});
  Process run = job.Run(first);
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  const std::vector<std::string> files = TrainEvents(job);
  ASSERT_THAT(files, SizeIs(1));
  for (const char* const tag :
       {"sequential/dense/kernel/histogram", "sequential/dense/bias/histogram",
        "sequential/dense/kernel/image"}) {
    EXPECT_EQ(CountOf(files[0], tag), 2) << tag;
  }
  EXPECT_EQ(CountOf(files[0], "epoch_steps_per_second"), 3);
  arguments.insert(arguments.end(), {"--resume", "--set", "epochs=5"});
  Process resumed = job.Run(arguments);
  EXPECT_EQ(resumed.Wait(kJobLimit), 0) << resumed.Errors();
  const std::vector<std::string> all = TrainEvents(job);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0], files[0]);
  // The third epoch's again, since the first run may have been killed before it
  // wrote them, and the fifth's.
  EXPECT_EQ(CountOf(all[1], "sequential/dense/kernel/histogram"), 2);
  EXPECT_EQ(CountOf(all[1], "epoch_loss"), 2);
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, WeightHistogramsTest,
    ::testing::Values(std::vector<std::string>{"cluster.ps=2"},
                      std::vector<std::string>{"strategy=mirrored",
                                               "cluster={worker: 1}",
                                               "devices=2"},
                      std::vector<std::string>{"strategy=multi_worker_mirrored",
                                               "cluster={worker: 2}"},
                      std::vector<std::string>{"strategy=central_storage",
                                               "cluster={worker: 1}",
                                               "devices=2"}));

}  // namespace
}  // namespace paceline
