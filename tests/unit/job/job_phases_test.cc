#include "common/job/job_phases.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/config/message_fields.h"
#include "common/config/path.h"
#include "common/job/job_fields.h"
#include "common/job/job_reader.h"
#include "common/model/build_graph.h"
#include "common/model/graph.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A model with a frozen base, in which one layer is frozen by itself.
constexpr char kJob[] = R"(strategy: mirrored
model:
  layers:
    - Input: {shape: [4]}
    - Model:
        name: base
        trainable: false
        layers:
          - Input: {shape: [4]}
          - Dense: {units: 4, name: low}
          - BatchNormalization: {name: norm}
          - Dense: {units: 4, name: high}
          - Dense: {units: 4, name: stem, trainable: false}
    - Dropout: {rate: 0.5, name: drop}
    - Dense: {units: 2, name: head}
loss: mse
optimizer: sgd
callbacks: [{CSVLogger: {filename: log.csv}}]
data:
  train: {idx: {features: f, labels: l}}
  test: {idx: {features: f, labels: l}}
weights: start.weights.h5
batch_size_per_replica: 8
)";

absl::StatusOr<v1::Job> Read(const std::string& phases) {
  return ReadJob(absl::StrCat(kJob, "phases:\n", phases), "/jobs/j.yaml", {},
                 {.check_files = false});
}

// The layers that train.
std::vector<std::string> Trained(const v1::Job& job) {
  std::vector<std::string> names;
  const auto graph = BuildGraph(job.model());
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return names;
  for (const auto& layer : graph->layers) {
    const std::string prefix = layer->name + "/";
    for (const VariableSpec& variable : graph->variables) {
      if (!variable.name.starts_with(prefix)) continue;
      if (layer->trainable) names.push_back(layer->name);
      break;
    }
  }
  return names;
}

TEST(JobPhases, EachIsAJob) {
  const auto job = Read(R"(
  - {epochs: 2}
  - {name: tune, optimizer: {Adam: {learning_rate: 0.5}}, initial_epoch: 2,
     epochs: 5, callbacks: [{CSVLogger: {filename: tune.csv}}]}
)");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->phases(0).name(), "phase-1");

  const auto first = JobOfPhase(*job, 0);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(first->phases(), IsEmpty());
  EXPECT_EQ(first->epochs(), 2u);
  EXPECT_EQ(first->weights(), "/jobs/start.weights.h5");
  EXPECT_EQ(first->optimizer().class_name(), "sgd");
  EXPECT_FALSE(first->data().has_test());
  // Its variables are those that the next one begins with.
  EXPECT_EQ(first->checkpoint().every_epochs(), 2u);
  EXPECT_THAT(Trained(*first), ElementsAre("head"));

  const auto second = JobOfPhase(*job, 1);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->initial_epoch(), 2u);
  EXPECT_EQ(second->epochs(), 5u);
  EXPECT_EQ(second->weights(), "");
  EXPECT_EQ(second->optimizer().class_name(), "Adam");
  ASSERT_EQ(second->callbacks_size(), 1);
  EXPECT_EQ(
      second->callbacks(0).config().fields().at("filename").string_value(),
      "tune.csv");
  EXPECT_TRUE(second->data().has_test());
  EXPECT_FALSE(second->has_checkpoint());

  // What is written can be read again.
  const Value written = WriteJob(*job);
  EXPECT_EQ(written.Find("phases")->as_list().size(), 2u);
  EXPECT_EQ(written.Find("epochs"), nullptr);
  EXPECT_EQ(written.Find("initial_epoch"), nullptr);
}

TEST(JobPhases, AnEmptyListTurnsTheCallbacksOfTheJobOff) {
  const auto job = ReadJob(
      absl::StrCat(kJob,
                   "phases: [{epochs: 1}, {epochs: 1, callbacks: []}, {epochs: "
                   "1, callbacks: null}]\n"),
      "/jobs/j.yaml",
      {"callbacks=[TerminateOnNaN, {BackupAndRestore: {save_freq: 50}}]"},
      {.check_files = false});
  ASSERT_TRUE(job.ok()) << job.status();
  const int counts[] = {2, 0, 2};
  v1::Job again;
  ASSERT_TRUE(Codec<v1::Job>::Read(WriteJob(*job), Path(), again).ok());
  for (const v1::Job& each : {*job, again}) {
    for (int phase = 0; phase < 3; ++phase) {
      const auto one = JobOfPhase(each, phase);
      ASSERT_TRUE(one.ok()) << one.status();
      EXPECT_EQ(one->callbacks_size(), counts[phase]) << phase;
    }
  }
  EXPECT_EQ(JobOfPhase(*job, 0)->checkpoint().every_steps(), 50u);
  EXPECT_EQ(JobOfPhase(*job, 1)->checkpoint().every_steps(), 0u);
}

TEST(JobPhases, MayBeSetInAJobThatHasEpochs) {
  const std::string text = absl::StrCat(kJob, "epochs: 3\ninitial_epoch: 1\n");
  const auto read = [&text](std::vector<std::string> overrides) {
    overrides.emplace_back("phases=[{epochs: 2}]");
    return ReadJob(text, "/jobs/j.yaml", overrides, {.check_files = false});
  };
  EXPECT_THAT(read({"epochs=null"}).status().message(),
              HasSubstr("initial_epoch: excludes `phases`"));
  const auto job = read({"epochs=null", "initial_epoch=null"});
  EXPECT_TRUE(job.ok()) << job.status();
}

TEST(JobPhases, ABackupOfAPhaseReplacesThatOfTheJob) {
  // The job's own callbacks are in the document.
  const auto job = ReadJob(
      absl::StrCat(kJob,
                   "phases: [{epochs: 2}, {epochs: 2, callbacks: "
                   "[{BackupAndRestore: {save_freq: 7}}]}]\n"),
      "/jobs/j.yaml", {"callbacks=[{BackupAndRestore: {save_freq: 50}}]"},
      {.check_files = false});
  ASSERT_TRUE(job.ok()) << job.status();
  const auto first = JobOfPhase(*job, 0);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->checkpoint().every_steps(), 50u);
  const auto second = JobOfPhase(*job, 1);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->checkpoint().every_steps(), 7u);
}

TEST(JobPhases, ABackupOfAPhaseAwaitsNoCheckpointsOfTheJob) {
  EXPECT_THAT(
      Read("  - {epochs: 2, callbacks: [{BackupAndRestore: {}}]}\n"
           "checkpoint: {every_epochs: 3, keep: 5}")
          .status()
          .message(),
      HasSubstr("phases[0]: callbacks[0].delete_checkpoint: true, but the "
                "job's own `checkpoint` keeps checkpoints"));
}

TEST(JobPhases, NameTheLayersThatTrain) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"trainable: [base]",
       {"base/low", "base/norm", "base/high", "base/stem", "head"}},
      {"trainable: [base], frozen: ['base/*o*', head]",
       {"base/high", "base/stem"}},
      // The others of the base stay frozen.
      {"trainable: [base/high]", {"base/high", "head"}},
      {"trainable: ['*'], frozen: [base]", {"head"}},
      {"frozen: [base/low]", {"head"}},
      {"trainable: [base/h*h, h*d]", {"base/high", "head"}},
  };
  for (const auto& [phase, trained] : cases) {
    const auto job = Read(absl::StrCat("  - {epochs: 1, ", phase, "}\n"));
    ASSERT_TRUE(job.ok()) << phase << ": " << job.status();
    const auto one = JobOfPhase(*job, 0);
    ASSERT_TRUE(one.ok()) << phase << ": " << one.status();
    EXPECT_EQ(Trained(*one), trained) << phase;
  }
}

TEST(JobPhases, AreRefusedWithFieldAndReason) {
  const std::pair<std::string, const char*> cases[] = {
      {"  - {epochs: 1, trainable: [head, bass]}",
       "phases[0].trainable[1]: no layer of the model is named \"bass\"; "
       "expected one of input_layer, base, base/input_layer, base/low"},
      {"  - {epochs: 1, frozen: ['low*']}",
       "phases[0].frozen[0]: no layer of the model is named \"low*\""},
      {"  - {}", "phases[0].epochs: "},
      {"  - {epochs: 2, initial_epoch: 2}",
       "phases[0]: initial_epoch: must be below epochs, 2"},
      {"  - {epochs: 1, name: a}\n  - {epochs: 1, name: a}",
       "phases[1].name: \"a\" is that of phases[0], too; expected another"},
      {"  - {epochs: 1, name: a/b}",
       "phases[0].name: expected 1 to 128 bytes without a slash"},
      {"  - {epochs: 1, name: \"a\\0b\"}",
       "phases[0].name: expected 1 to 128 bytes without a slash"},
      {absl::StrCat("  - {epochs: 1, frozen: [", std::string(257, 'x'), "]}"),
       "phases[0].frozen[0]: expected at most 256 bytes, got 257"},
      {"  - {epochs: 1, optimizer: {SGD: {use_ema: true}}}\n  - {epochs: 2}",
       "phases[0]: its optimizer has use_ema: true"},
      {"  - {epochs: 1, optimizer: {SGD: {learning_rate: -1}}}", "phases[0]"},
      {"  - {epochs: 1}\nepochs: 3",
       "epochs: excludes `phases`, each of which has its own; expected none"},
      // Also with the values that are the defaults.
      {"  - {epochs: 1}\nepochs: 1",
       "epochs: excludes `phases`, each of which has its own; expected none"},
      {"  - {epochs: 1}\ninitial_epoch: 0",
       "initial_epoch: excludes `phases`, each of which has its own; expected "
       "none"},
      {"  - {epochs: 1}\nevaluator: true\ncheckpoint: {every_epochs: 1}",
       "phases: an evaluator follows the checkpoints of a single part"},
  };
  for (const auto& [phases, error] : cases) {
    const absl::Status status = Read(phases).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << phases << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(error)) << phases;
  }
}

}  // namespace
}  // namespace paceline
