// Files of models that ModelCheckpoint saves while a job trains.
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr char kEachEpoch[] =
    "callbacks=[{ModelCheckpoint: {filepath: 'models/{epoch:02d}.keras', "
    "verbose: 1}}]";

constexpr char kInBothFormats[] =
    "callbacks=[{ModelCheckpoint: {filepath: 'models/{epoch:02d}.keras', "
    "verbose: 1}}, {ModelCheckpoint: {filepath: 'models/{epoch:02d}.h5'}}]";

std::vector<std::string> Saving(std::vector<std::string> arguments,
                                const std::vector<std::string>& sets) {
  for (const std::string& set : sets) {
    arguments.emplace_back("--set");
    arguments.push_back(set);
  }
  return arguments;
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> names;
  if (!std::filesystem::exists(folder)) return names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

// In order, so that two runs give the same bits. The learning rate is a
// float32, as which Keras' files have it.
const std::vector<std::string> kExact = {
    "data.train.shuffle=false", "optimizer={Adam: {learning_rate: 0.0078125}}"};

class SavedModelsTest
    : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(SavedModelsTest, AModelOfAnEpochGoesOnAsIfItHadNotStopped) {
  SmallJob job;
  std::vector<std::string> arguments = Saving({}, GetParam());
  arguments = Saving(arguments, kExact);
  Process run = job.Run(Saving(arguments, {"epochs=2", kInBothFormats}));
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(FilesIn(job.output_dir() + "/models"),
              UnorderedElementsAre("01.h5", "01.keras", "02.h5", "02.keras"));
  for (const char* const epoch : {"1", "2"}) {
    for (const char* const does : {"saving", "finished saving"}) {
      EXPECT_THAT(run.Output(), HasSubstr(absl::StrCat(
                                    "\nEpoch ", epoch, ": ", does,
                                    " model to models/0", epoch, ".keras\n")));
    }
  }
  const std::string whole = job.LastShardTensors();
  const std::string models = job.folder() / "models";
  std::filesystem::rename(job.output_dir() + "/models", models);
  const std::string following = job.folder() / "following.yaml";
  for (const char* const file : {"models/01.keras", "models/01.h5"}) {
    SCOPED_TRACE(file);
    WriteText(following,
              absl::StrCat("model: ", file,
                           "\ndata: {train: {idx: {features: train-images, "
                           "labels: train-labels}, scale: "
                           "0.00392156862745098}}\n"
                           "strategy: mirrored\n"
                           "batch_size_per_replica: 64\n"
                           "checkpoint: {every_epochs: 1}\n"));
    Process rest =
        job.Coordinator({"run", following, "--output", job.output_dir()});
    EXPECT_EQ(rest.Wait(kJobLimit), 0) << rest.Errors();
    EXPECT_EQ(job.LastShardTensors(), whole);
  }
}

// As the same job with epochs of so many steps has it at the end of its first.
TEST_P(SavedModelsTest, AModelWithinAnEpochIsThatAfterItsBatches) {
  std::vector<std::string> arguments = Saving({}, GetParam());
  arguments = Saving(arguments, kExact);
  constexpr char kWeights[] =
      "callbacks=[{ModelCheckpoint: {filepath: 'w/{epoch}.weights.h5', "
      "save_weights_only: true}}]";
  SmallJob job;
  Process run = job.Run(Saving(
      arguments,
      {"epochs=2",
       "callbacks=[{ModelCheckpoint: {filepath: "
       "'w/{epoch:02d}-{batch:02d}.weights.h5', save_weights_only: true, "
       "save_freq: 4, verbose: 1, monitor: loss, save_best_only: true, "
       "initial_value_threshold: 100}}]"}));
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(run.Output(),
              HasSubstr("\nEpoch 1: loss improved from 100.00000 to "));
  const std::string folder = job.output_dir() + "/w/";
  ASSERT_THAT(FilesIn(folder), Contains("01-04.weights.h5"));
  const std::string saved = ReadText(folder + "01-04.weights.h5");
  SmallJob shorter;
  Process other = shorter.Run(
      Saving(arguments, {"epochs=1", "steps_per_epoch=4", kWeights}));
  EXPECT_EQ(other.Wait(kJobLimit), 0) << other.Errors();
  EXPECT_EQ(ReadText(shorter.output_dir() + "/w/1.weights.h5"), saved);
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, SavedModelsTest,
    ::testing::Values(std::vector<std::string>{"cluster.worker=1"},
                      std::vector<std::string>{"strategy=mirrored",
                                               "cluster={worker: 1}"}));

TEST(SavedModels, AJobNeedNoCheckpointsOfItsOwn) {
  SmallJob job;
  // A loss that falls by less than 100 in an epoch does not get better.
  Process run = job.Run(Saving(
      {}, {"checkpoint=null",
           "callbacks=[{ModelCheckpoint: {filepath: best.weights.h5, monitor: "
           "loss, save_best_only: true, save_weights_only: true, verbose: 1, "
           "initial_value_threshold: 100}}, {ModelCheckpoint: {filepath: "
           "never.keras, monitor: loss, save_best_only: true, verbose: 1, "
           "initial_value_threshold: 0}}]"}));
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(run.Output(), HasSubstr("\nEpoch 1: loss improved from 100.00000 "
                                      "to "));
  EXPECT_THAT(run.Output(), HasSubstr(", saving model to best.weights.h5\n"));
  EXPECT_THAT(run.Output(),
              HasSubstr("\nEpoch 3: loss did not improve from 0.00000\n"));
  EXPECT_TRUE(std::filesystem::exists(job.output_dir() + "/best.weights.h5"));
  EXPECT_FALSE(std::filesystem::exists(job.output_dir() + "/never.keras"));
  // The last one stays.
  EXPECT_THAT(FilesIn(job.output_dir() + "/checkpoint"), SizeIs(1));
}

TEST(SavedModels, BatchesAreCountedOverEpochsUnderEachStrategy) {
  for (const std::vector<std::string>& changes :
       {std::vector<std::string>{"cluster={ps: 2, worker: 2}"},
        std::vector<std::string>{"consistency=sync",
                                 "cluster={ps: 1, worker: 2}"},
        std::vector<std::string>{"strategy=multi_worker_mirrored",
                                 "cluster={worker: 2}"},
        std::vector<std::string>{"strategy=central_storage", "cluster=null",
                                 "devices=2"}}) {
    SmallJob job;
    Process run = job.Run(
        Saving(Saving({}, changes),
               {"epochs=3", "steps_per_epoch=5",
                "callbacks=[{ModelCheckpoint: {filepath: "
                "'m/{epoch}-{batch:02d}.keras', save_freq: 4, verbose: 1}}]"}));
    EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
    EXPECT_THAT(FilesIn(job.output_dir() + "/m"),
                UnorderedElementsAre("1-04.keras", "2-03.keras", "3-02.keras"));
    EXPECT_THAT(
        run.Output(),
        HasSubstr("\nEpoch 2: finished saving model to m/2-03.keras\n"));
  }
}

TEST(SavedModels, AResumedJobKnowsTheBestAndMakesALostFileAgain) {
  constexpr char kFirstOnly[] =
      "callbacks=[{ModelCheckpoint: {filepath: best.keras, monitor: accuracy, "
      "mode: min, save_best_only: true, verbose: 1}}]";
  SmallJob job;
  Process first = job.Run(Saving({}, {"epochs=1", kFirstOnly}));
  EXPECT_EQ(first.Wait(kJobLimit), 0) << first.Errors();
  EXPECT_THAT(first.Output(), HasSubstr("accuracy improved from None to "));
  // As if the run had been killed once its checkpoint was there.
  ASSERT_TRUE(std::filesystem::remove(job.output_dir() + "/best.keras"));
  Process second = job.Run(Saving({"--resume"}, {"epochs=2", kFirstOnly}));
  EXPECT_EQ(second.Wait(kJobLimit), 0) << second.Errors();
  EXPECT_THAT(second.Output(),
              HasSubstr("\nEpoch 2: accuracy did not improve from 0."));
  EXPECT_THAT(second.Output(), Not(HasSubstr("saving model")));
  EXPECT_TRUE(std::filesystem::exists(job.output_dir() + "/best.keras"));
}

// The checkpoint asks for so many files that it takes longer than the start
// timeout to make them, unless the disk is very fast.
TEST(SavedModels, FilesThatAreMadeAgainDoNotCountAsTheStartAndCanBeStopped) {
  constexpr int kFiles = 250;
  const std::vector<std::string> saving = Saving(
      {}, {"callbacks=[{ModelCheckpoint: {filepath: 'again/0.weights.h5', "
           "save_weights_only: true}}]"});
  for (const std::vector<std::string>& changes :
       {std::vector<std::string>{"cluster={ps: 1, worker: 1}"},
        std::vector<std::string>{"strategy=mirrored", "cluster=null"}}) {
    SmallJob job;
    Process first = job.Run(Saving(Saving(saving, changes), {"epochs=1"}));
    EXPECT_EQ(first.Wait(kJobLimit), 0) << first.Errors();
    const std::string path =
        job.output_dir() + "/checkpoint/step-000000000010/manifest.json";
    nlohmann::json manifest = nlohmann::json::parse(ReadText(path));
    nlohmann::json& saves = manifest.at("session").at("saves");
    ASSERT_THAT(saves, SizeIs(1));
    for (int i = 1; i < kFiles; ++i) {
      saves.push_back({absl::StrCat("again/", i, ".weights.h5"), true});
    }
    WriteText(path, manifest.dump());
    const std::string folder = job.output_dir() + "/again";
    std::filesystem::remove_all(folder);

    std::vector<std::string> again =
        Saving(Saving(saving, changes), {"epochs=2"});
    again.emplace_back("--resume");
    again.push_back(absl::StrCat("--start_timeout=", 3 * kTimeScale));
    Process stopped = job.Run(again);
    ASSERT_TRUE(
        WaitUntil(kJobLimit, [&] { return FilesIn(folder).size() > 1; }));
    stopped.Signal(SIGINT);
    EXPECT_EQ(stopped.Wait(kJobLimit), 130) << stopped.Errors();
    EXPECT_THAT(stopped.Output(), Not(HasSubstr("Epoch 2/2")));
    const std::vector<std::string> made = FilesIn(folder);
    EXPECT_THAT(made, SizeIs(Lt(kFiles)));
    EXPECT_THAT(made, Each(EndsWith(".weights.h5")));

    Process second = job.Run(again);
    EXPECT_EQ(second.Wait(kJobLimit), 0) << second.Errors();
    EXPECT_THAT(FilesIn(folder), SizeIs(kFiles));
  }
}

TEST(SavedModels, AFileThatCannotBeWrittenEndsTheJob) {
  SmallJob job;
  std::filesystem::create_directories(job.output_dir() + "/models/01.keras");
  Process run = job.Run(Saving({}, {kEachEpoch}));
  EXPECT_EQ(run.Wait(kJobLimit), 1) << run.Errors();
  EXPECT_THAT(
      run.Errors(),
      HasSubstr(
          "a callback failed: ModelCheckpoint: cannot save the model as "));
  EXPECT_THAT(run.Errors(), HasSubstr("models/01.keras"));
  EXPECT_THAT(run.Output(), Not(HasSubstr("finished saving")));
}

}  // namespace
}  // namespace paceline
