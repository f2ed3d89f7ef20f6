// Every synchronous strategy does what a single process does with the same
// global batch, and does it again to the bit.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/conformance/strategy_replicas.h"

namespace paceline {
namespace {

class StrategiesTest
    : public ::testing::TestWithParam<std::tuple<StrategyKind, int>> {
 protected:
  StrategiesTest() : models_(kRegularizedLayers) {}

  // Expects replicas to end within `tolerance` of a single process, to agree
  // with each other, and to give the same bits again.
  static void ExpectNear(const Models& models, const char* device,
                         const char* optimizer, double tolerance) {
    const Job job = {models, optimizer, DeviceNamed(device)};
    const auto [kind, count] = GetParam();
    const Variables alone =
        TrainReplicas(job, StrategyKind::kAllReduce, 1).front();
    const std::vector<Variables> replicas = TrainReplicas(job, kind, count);
    EXPECT_LE(RelativeDistance(replicas.front(), alone), tolerance);
    for (const Variables& each : replicas) {
      EXPECT_EQ(each, replicas.front()) << "replicas differ";
    }
    EXPECT_EQ(TrainReplicas(job, kind, count).front(), replicas.front())
        << "a repeat differs";
  }

  const Models models_;
};

TEST_P(StrategiesTest, SgdEndsWhereASingleProcessDoes) {
  ASSERT_GT(models_.served.plan().chunks(0).size(), 1u);
  ExpectNear(models_, "cpu", "SGD", 1e-5);
}

TEST_P(StrategiesTest, AdamInFloat64EndsWhereASingleProcessDoes) {
  ExpectNear(models_, "reference_float64", "Adam", 1e-9);
}

// Clipping, and optimizers that need more than one element at a time.
class OptimizersOfStrategiesTest : public StrategiesTest {};

// The bound is so small that each step clips.
TEST_P(OptimizersOfStrategiesTest, ClippedByNormEndsWhereASingleProcessDoes) {
  ExpectNear(models_, "reference_float64", "{Adam: {clipnorm: 0.1}}", 1e-9);
}

TEST_P(OptimizersOfStrategiesTest,
       ClippedByTheGlobalNormEndsWhereASingleProcessDoes) {
  ExpectNear(models_, "reference_float64",
             "{SGD: {momentum: 0.5, global_clipnorm: 0.2}}", 1e-9);
}

TEST_P(OptimizersOfStrategiesTest, ClippedByValueEndsWhereASingleProcessDoes) {
  ExpectNear(models_, "reference_float64", "{SGD: {clipvalue: 0.01}}", 1e-9);
}

TEST_P(OptimizersOfStrategiesTest, DecayedEndsWhereASingleProcessDoes) {
  ExpectNear(models_, "reference_float64", "{AdamW: {weight_decay: 5}}", 1e-9);
  ExpectNear(models_, "reference_float64",
             "{SGD: {weight_decay: 5, exclude_from_weight_decay: [bias]}}",
             1e-9);
}

TEST_P(OptimizersOfStrategiesTest, AveragedEndsWhereASingleProcessDoes) {
  ExpectNear(models_, "reference_float64",
             "{Adam: {use_ema: true, ema_momentum: 0.5,"
             " ema_overwrite_frequency: 2}}",
             1e-9);
}

// An optimizer that overwrites the variables with their averages in the last
// step gives the same averages.
TEST_P(OptimizersOfStrategiesTest, SwappedAveragesAreThoseOfTraining) {
  const auto [kind, count] = GetParam();
  for (const char* const device : {"reference_float64", "cpu"}) {
    Job job = {models_,
               "{SGD: {momentum: 0.5, use_ema: true, ema_momentum: 0.5,"
               " ema_overwrite_frequency: 50}}",
               DeviceNamed(device)};
    ASSERT_EQ(kSteps, 50);
    const std::vector<Variables> averages = TrainReplicas(job, kind, count);
    job.optimizer = "{SGD: {momentum: 0.5, use_ema: true, ema_momentum: 0.5}}";
    EXPECT_NE(TrainReplicas(job, kind, count), averages);
    job.swaps_averages = true;
    EXPECT_EQ(TrainReplicas(job, kind, count), averages) << device;
  }
}

// The clipping is of the mean, whose norm a parameter server's parts exchange.
TEST_P(OptimizersOfStrategiesTest, AccumulatedEndsWhereASingleProcessDoes) {
  for (const char* optimizer :
       {"{Adam: {gradient_accumulation_steps: 2, use_ema: true}}",
        "{SGD: {gradient_accumulation_steps: 3, global_clipnorm: 0.02}}",
        "{SGD: {gradient_accumulation_steps: 2, clipnorm: 0.02,"
        " weight_decay: 5, exclude_from_weight_decay: [bias]}}"}) {
    SCOPED_TRACE(optimizer);
    ExpectNear(models_, "reference_float64", optimizer, 1e-9);
  }
}

double DecayedRate(int64_t step) {
  return 0.1 * std::pow(0.5, static_cast<double>(step) / 10);
}

constexpr char kDecay[] =
    "{ExponentialDecay: {initial_learning_rate: 0.1, decay_steps: 10,"
    " decay_rate: 0.5}}";

// The rates of leases take the place of the optimizer's own, also where norms
// of parts are exchanged before the update.
TEST_P(OptimizersOfStrategiesTest, RatesOfLeasesAreThoseOfUpdates) {
  const auto [kind, count] = GetParam();
  for (const std::string rest :
       {"", ", momentum: 0.5, weight_decay: 0.1",
        ", global_clipnorm: 0.2, gradient_accumulation_steps: 2"}) {
    SCOPED_TRACE(rest);
    Job job = {models_,
               absl::StrCat("{SGD: {learning_rate: ", kDecay, rest, "}}"),
               DeviceNamed("reference_float64")};
    const Variables alone =
        TrainReplicas(job, StrategyKind::kAllReduce, 1).front();
    job.optimizer = absl::StrCat("{SGD: {learning_rate: 7", rest, "}}");
    job.learning_rate = DecayedRate;
    EXPECT_LE(RelativeDistance(TrainReplicas(job, kind, count).front(), alone),
              1e-9);
  }
}

// Lamb needs the norms of whole variables, Muon whole matrices.
TEST_P(OptimizersOfStrategiesTest,
       UpdatesOfWholeVariablesEndWhereASingleProcessDoes) {
  for (const std::string optimizer : {"Lamb", "Muon"}) {
    SCOPED_TRACE(optimizer);
    const Models models(kRegularizedLayers, /*chunk_bytes=*/512, optimizer);
    ASSERT_GT(models_.served.plan().parts().size(),
              models.served.plan().parts().size());
    ASSERT_GT(models.served.plan().chunks(1).size(), 0u);
    const std::string clipped =
        absl::StrCat("{", optimizer, ": {clipnorm: 0.1}}");
    ExpectNear(models, "cpu", optimizer.c_str(), 1e-5);
    ExpectNear(models, "reference_float64", optimizer.c_str(), 1e-9);
    ExpectNear(models, "reference_float64", clipped.c_str(), 1e-9);
  }
}

// Norms are those of whole variables, too.
TEST_P(OptimizersOfStrategiesTest, ConstrainedEndsWhereASingleProcessDoes) {
  const Models models(kConstrainedLayers);
  ExpectNear(models, "cpu", "SGD", 1e-5);
  ExpectNear(models, "reference_float64", "Adam", 1e-9);
}

// Frozen variables have no gradients, not even on a replica without examples.
TEST_P(StrategiesTest, FrozenLayersEndWhereASingleProcessDoes) {
  const Models models(
      "[Input: {shape: [6]}, Dense: {units: 8, trainable: false},"
      " Dense: {units: 7, activation: tanh},"
      " BatchNormalization: {trainable: false},"
      " Dense: {units: 5, trainable: false}]");
  ExpectNear(models, "cpu", "SGD", 1e-5);
  ExpectNear(models, "reference_float64", "Adam", 1e-9);
}

TEST_P(StrategiesTest, SequencesEndWhereASingleProcessDoes) {
  const Models of_values(
      "[Input: {shape: [6, 4]},"
      " Conv1D: {filters: 6, kernel_size: 3, padding: causal, name: c},"
      " {MultiHeadAttention: {num_heads: 2, key_dim: 3, name: a},"
      " inputs: [c, c]}, {Add: {}, inputs: [c, a]}, LayerNormalization: {},"
      " Bidirectional: {layer: {LSTM: {units: 3, return_sequences: true}}},"
      " TimeDistributed: {layer: {Dense: {units: 4}}},"
      " GroupNormalization: {groups: 2}, PReLU: {}, GRU: {units: 4},"
      " Dense: {units: 5}]");
  const Models of_ids(
      "[Input: {shape: [6]}, Embedding: {input_dim: 7, output_dim: 4},"
      " SimpleRNN: {units: 6, return_sequences: true}, MaxPooling1D: {},"
      " GlobalAveragePooling1D: {}, Dense: {units: 5}]");
  ExpectNear(of_values, "cpu", "SGD", 1e-5);
  ExpectNear(of_ids, "cpu", "SGD", 1e-5);
}

TEST_P(StrategiesTest, AClassForEachStepOrPixelEndsWhereASingleProcessDoes) {
  const Models of_steps(
      "[Input: {shape: [6, 4]}, LSTM: {units: 6, return_sequences: true},"
      " Dense: {units: 5}]");
  const Models of_pixels(
      "[Input: {shape: [4, 5, 2]}, Conv2D: {filters: 8, kernel_size: 3,"
      " padding: same, activation: tanh}, Conv2D: {filters: 7, kernel_size: 3,"
      " padding: same, activation: softmax}]");
  ExpectNear(of_steps, "cpu", "SGD", 1e-5);
  ExpectNear(of_pixels, "cpu", "SGD", 1e-5);
  ExpectNear(of_pixels, "reference_float64", "Adam", 1e-9);
}

// Strategies whose replicas are connected with each other.
class ConnectedStrategiesTest : public StrategiesTest {};

// A kernel that fills a bucket becomes ready before its bias, which is in the
// bucket before. A replica without examples makes buckets ready in their own
// order. All replicas must still reduce them in the same order.
TEST_P(ConnectedStrategiesTest, BucketsAreReducedInTheSameOrder) {
  const Models models(
      "[Input: {shape: [730]}, Dense: {units: 720}, Dense: {units: 5}]",
      /*chunk_bytes=*/1 << 20);
  ASSERT_EQ(models.local.layout().buckets().size(), 2u);
  ExpectNear(models, "cpu", "SGD", 1e-5);
}

TEST_P(ConnectedStrategiesTest, FrozenVariablesDoNotTravel) {
  const auto sent = [](const std::string& frozen_layer) {
    const Models models(absl::StrCat("[Input: {shape: [6]}, ", frozen_layer,
                                     "Dense: {units: 6}, Dense: {units: 5}]"));
    std::atomic<int64_t> bytes = 0;
    const Job job = {models, "Adam", DeviceNamed("cpu"),
                     /*steps_per_execution=*/1, &bytes};
    const auto [kind, count] = GetParam();
    TrainReplicas(job, kind, count);
    return bytes.load();
  };
  const int64_t without = sent("");
  EXPECT_GT(sent("Dense: {units: 6}, "), without);
  EXPECT_EQ(sent("Dense: {units: 6, trainable: false}, "), without);
}

// Normalization and moving statistics use the statistics of the whole batch.
TEST_P(ConnectedStrategiesTest,
       SynchronizedNormalizationEndsWhereASingleProcessDoes) {
  const Models models(
      "[Input: {shape: [6, 6, 1]}, Conv2D: {filters: 3, kernel_size: 3},"
      " BatchNormalization: {synchronized: true, momentum: 0.9}, ReLU: {},"
      " Flatten: {}, Dense: {units: 8},"
      " BatchNormalization: {synchronized: true, momentum: 0.9},"
      " Dense: {units: 5}]");
  ExpectNear(models, "cpu", "SGD", 1e-5);
  ExpectNear(models, "cuda_on_fake", "SGD", 1e-5);
  ExpectNear(models, "reference_float64", "{Adam: {global_clipnorm: 0.2}}",
             1e-9);
}

// Backward all-reduces sums for the statistics, even if neither the
// normalization nor a layer before it has trained variables.
TEST_P(ConnectedStrategiesTest,
       SynchronizedStatisticsAloneEndWhereASingleProcessDoes) {
  const std::string normalization =
      "BatchNormalization: {center: false, scale: false, synchronized: true}";
  for (const std::string& layers :
       {absl::StrCat(normalization, ", Dense: {units: 5}"),
        absl::StrCat("Dense: {units: 8, trainable: false}, ", normalization,
                     ", Dense: {units: 5}"),
        absl::StrCat("Dense: {units: 5, trainable: false}, ", normalization)}) {
    SCOPED_TRACE(layers);
    const Models models(absl::StrCat("[Input: {shape: [6]}, ", layers, "]"));
    ExpectNear(models, "cpu", "SGD", 1e-5);
    ExpectNear(models, "cuda_on_fake", "SGD", 1e-5);
    ExpectNear(models, "reference_float64", "Adam", 1e-9);
  }
}

// Mean and variance of each of `features` numbers over examples [begin, end).
std::pair<std::vector<double>, std::vector<double>> MomentsOf(
    const std::vector<double>& examples, size_t features, int64_t begin,
    int64_t end) {
  std::vector<double> means(features);
  std::vector<double> variances(features);
  const auto count = static_cast<double>(end - begin);
  for (size_t f = 0; f < features; ++f) {
    for (int64_t i = begin; i < end; ++i) {
      means[f] += examples[i * features + f] / count;
    }
    for (int64_t i = begin; i < end; ++i) {
      const double difference = examples[i * features + f] - means[f];
      variances[f] += difference * difference / count;
    }
  }
  return {means, variances};
}

// Each replica normalises by its own batch; the moving statistics are the means
// of the replicas', weighted by examples, whatever the optimizer and clipping.
TEST_P(StrategiesTest, MovingStatisticsAreWeightedMeans) {
  constexpr size_t kFeatures = 4;
  constexpr double kMomentum = 0.8;
  const Models models(
      "[Input: {shape: [4]}, BatchNormalization: {momentum: 0.8},"
      " Dense: {units: 5}]");
  const Job job = {models, "{Adam: {clipnorm: 0.01}}",
                   DeviceNamed("reference_float64")};
  const auto [kind, count] = GetParam();
  const std::vector<double> examples =
      models.local.SomeExamples(kExamples).features[0];
  std::vector<double> means(kFeatures, 0);
  std::vector<double> variances(kFeatures, 1);
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t steps_per_epoch =
        (kExamples + kGlobalBatch - 1) / kGlobalBatch;
    const int64_t at = step % steps_per_epoch * kGlobalBatch;
    const int64_t size = std::min(kGlobalBatch, kExamples - at);
    for (size_t f = 0; f < kFeatures; ++f) {
      means[f] *= kMomentum;
      variances[f] *= kMomentum;
    }
    for (int rank = 0; rank < count; ++rank) {
      const int64_t begin = at + size * rank / count;
      const int64_t end = at + size * (rank + 1) / count;
      if (begin == end) continue;
      const auto [mean, variance] = MomentsOf(examples, kFeatures, begin, end);
      const double share = static_cast<double>(end - begin) / size;
      for (size_t f = 0; f < kFeatures; ++f) {
        means[f] += (1 - kMomentum) * share * mean[f];
        variances[f] += (1 - kMomentum) * share * variance[f];
      }
    }
  }
  const Variables result = TrainReplicas(job, kind, count).front();
  // gamma, beta, then the statistics.
  for (size_t f = 0; f < kFeatures; ++f) {
    EXPECT_NEAR(result[2 * kFeatures + f], means[f], 1e-12);
    EXPECT_NEAR(result[3 * kFeatures + f], variances[f], 1e-12);
  }
}

std::string NameOf(StrategyKind kind) {
  switch (kind) {
    case StrategyKind::kAllReduce:
      return "AllReduce";
    case StrategyKind::kDeviceUpdate:
      return "DeviceUpdate";
    case StrategyKind::kCentralStorage:
      return "CentralStorage";
    case StrategyKind::kParameterServer:
      return "ParameterServer";
    case StrategyKind::kRemoteParameterServer:
      return "RemoteParameterServer";
  }
  return "";
}

std::string NameOfReplicas(
    const ::testing::TestParamInfo<std::tuple<StrategyKind, int>>& info) {
  return absl::StrCat(NameOf(std::get<0>(info.param)), std::get<1>(info.param));
}

constexpr StrategyKind kKinds[] = {
    StrategyKind::kAllReduce, StrategyKind::kCentralStorage,
    StrategyKind::kParameterServer, StrategyKind::kRemoteParameterServer};

INSTANTIATE_TEST_SUITE_P(Replicas, StrategiesTest,
                         ::testing::Combine(::testing::ValuesIn(kKinds),
                                            ::testing::Values(2, 3, 5)),
                         NameOfReplicas);
INSTANTIATE_TEST_SUITE_P(
    Replicas, ConnectedStrategiesTest,
    ::testing::Combine(::testing::Values(StrategyKind::kAllReduce,
                                         StrategyKind::kCentralStorage),
                       ::testing::Values(2, 3, 5)),
    NameOfReplicas);
INSTANTIATE_TEST_SUITE_P(Replicas, OptimizersOfStrategiesTest,
                         ::testing::Combine(::testing::ValuesIn(kKinds),
                                            ::testing::Values(3)),
                         NameOfReplicas);

}  // namespace
}  // namespace paceline
