// BatchNormalization under every strategy, from the job to its checkpoint.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

std::string Layers(const std::string& config) {
  return "model.layers=[Input: {shape: [8, 8, 1]},"
         " Conv2D: {filters: 4, kernel_size: 3, use_bias: false},"
         " BatchNormalization: {momentum: 0.9" +
         config +
         "}, ReLU: {}, MaxPooling2D: {}, Flatten: {}, Dense: {units: 4}]";
}

std::vector<std::string> Arguments(const std::string& layers,
                                   const std::vector<std::string>& changes) {
  std::vector<std::string> arguments;
  for (const std::string& change :
       {std::string("batch_size_per_replica=null"),
        "global_batch_size=" + std::to_string(kBatchSize), layers}) {
    arguments.insert(arguments.end(), {"--set", change});
  }
  for (const std::string& change : changes) {
    arguments.insert(arguments.end(), {"--set", change});
  }
  return arguments;
}

const std::vector<std::pair<std::string, std::vector<std::string>>>&
Strategies() {
  static const auto& strategies =
      *new std::vector<std::pair<std::string, std::vector<std::string>>>{
          {"one worker",
           {"strategy=multi_worker_mirrored", "cluster={worker: 1}"}},
          {"mirrored", {"strategy=mirrored", "cluster=null", "devices=3"}},
          {"central_storage",
           {"strategy=central_storage", "cluster=null", "devices=2"}},
          {"multi_worker_mirrored",
           {"strategy=multi_worker_mirrored", "cluster={worker: 3}"}},
          {"rounded",
           {"strategy=multi_worker_mirrored", "cluster={worker: 2}",
            "wire_precision=float16"}},
          {"sync", {"consistency=sync", "cluster={ps: 2, worker: 2}"}},
          {"async", {"cluster={ps: 2, worker: 2}"}}};
  return strategies;
}

TEST(BatchNormalizationTest, TrainsAndEvaluatesUnderEveryStrategy) {
  for (const auto& [name, changes] : Strategies()) {
    SCOPED_TRACE(name);
    SmallJob job;
    Process run = job.Run(Arguments(Layers(""), changes));
    ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
    const nlohmann::json evaluation = job.Result().at("evaluation");
    // With moving statistics that do not fit the data it would guess.
    EXPECT_GT(evaluation.at("accuracy").get<double>(), 0.8);
    std::vector<std::string> arguments = {
        "evaluate", job.output_dir() + "/checkpoint",
        "--job",    job.path(),
        "-o",       "json",
        "--set",    Layers("")};
    Process evaluate = job.Coordinator(arguments);
    ASSERT_EQ(evaluate.Wait(kJobLimit), 0) << evaluate.Errors();
    EXPECT_NEAR(
        nlohmann::json::parse(evaluate.Output()).at("loss").get<double>(),
        evaluation.at("loss").get<double>(), 1e-6);
  }
}

TEST(BatchNormalizationTest, SynchronizedIsTheSameWithAnyNumberOfReplicas) {
  std::vector<double> losses;
  for (const auto& [name, changes] : Strategies()) {
    if (name == "sync" || name == "async" || name == "rounded") continue;
    SmallJob job;
    Process run = job.Run(Arguments(Layers(", synchronized: true"), changes));
    ASSERT_EQ(run.Wait(kJobLimit), 0) << name << run.Errors();
    losses.push_back(job.Result().at("evaluation").at("loss").get<double>());
    EXPECT_NEAR(losses.back(), losses.front(), 1e-4) << name;
  }
}

TEST(BatchNormalizationTest, SynchronizedNeedsReplicasThatAreConnected) {
  SmallJob job;
  Process run = job.Run({"--set", Layers(", synchronized: true")});
  EXPECT_EQ(run.Wait(kJobLimit), 2);
  EXPECT_THAT(run.Errors(), HasSubstr("workers are not connected"));
}

TEST(BatchNormalizationTest, ResumesToTheBit) {
  const std::vector<std::string> changes = {"strategy=mirrored", "cluster=null",
                                            "devices=2"};
  SmallJob whole;
  Process all = whole.Run(Arguments(Layers(""), changes));
  ASSERT_EQ(all.Wait(kJobLimit), 0) << all.Errors();
  SmallJob parts;
  std::vector<std::string> first = Arguments(Layers(""), changes);
  first.insert(first.end(), {"--set", "epochs=1"});
  Process half = parts.Run(first);
  ASSERT_EQ(half.Wait(kJobLimit), 0) << half.Errors();
  std::vector<std::string> second = Arguments(Layers(""), changes);
  second.emplace_back("--resume");
  Process rest = parts.Run(second);
  ASSERT_EQ(rest.Wait(kJobLimit), 0) << rest.Errors();
  EXPECT_EQ(parts.LastShardFile(), whole.LastShardFile());
}

// Statistics have no slots, on servers and in workers.
TEST(BatchNormalizationTest, ResumesUnderOtherServersAndStrategies) {
  SmallJob whole;
  Process all =
      whole.Run(Arguments(Layers(", synchronized: true"),
                          {"strategy=mirrored", "cluster=null", "devices=2"}));
  ASSERT_EQ(all.Wait(kJobLimit), 0) << all.Errors();
  SmallJob parts;
  const auto train = [&](const std::vector<std::string>& changes) {
    std::vector<std::string> arguments = Arguments(Layers(""), changes);
    arguments.emplace_back("--resume");
    if (changes.back() == "epochs=1") arguments.pop_back();
    Process run = parts.Run(arguments);
    EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  };
  train({"consistency=sync", "cluster={ps: 2, worker: 2}", "epochs=1"});
  train({"consistency=sync", "cluster={ps: 1, worker: 2}", "epochs=2"});
  train({"strategy=mirrored", "cluster=null", "devices=2", "epochs=3"});
  // Each replica's own statistics make little difference here.
  EXPECT_NEAR(parts.Result().at("evaluation").at("loss").get<double>(),
              whole.Result().at("evaluation").at("loss").get<double>(), 0.05);
}

}  // namespace
}  // namespace paceline
