// GPUs that sum gradients among themselves and update their variables end where
// the reference does, with each optimizer.
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/devices.h"
#include "tests/conformance/strategy_replicas.h"

namespace paceline {
namespace {

// A device, an optimizer, steps_per_execution, and the number of replicas.
class DeviceUpdateTest : public ::testing::TestWithParam<
                             std::tuple<const char*, const char*, int, int>> {
 protected:
  DeviceUpdateTest()
      : models_(
            "[Input: {shape: [6, 6, 1]},"
            " Conv2D: {filters: 4, kernel_size: 3, use_bias: false,"
            " kernel_regularizer: {L2: {l2: 0.01}}},"
            " BatchNormalization: {momentum: 0.9}, ReLU: {}, Flatten: {},"
            " Dropout: {rate: 0.3}, Dense: {units: 8, activation: tanh},"
            " Dense: {units: 12}, Dense: {units: 5}]",
            /*chunk_bytes=*/512, std::get<1>(GetParam())) {}

  // The final variables of each replica.
  std::vector<Variables> Train(const std::string& device,
                               StrategyKind kind) const {
    const auto [_, optimizer, steps_per_execution, count] = GetParam();
    const Job job = {models_, optimizer, DeviceNamed(device),
                     steps_per_execution};
    return TrainReplicas(job, kind, count);
  }

  const Models models_;
};

// The last batch of an epoch is smaller: it needs its own program, and some of
// five replicas get no example of it.
TEST_P(DeviceUpdateTest, EndsWhereTheReferenceDoes) {
  const std::string device = std::get<0>(GetParam());
  const std::vector<Variables> replicas =
      Train(device, StrategyKind::kDeviceUpdate);
  for (const Variables& each : replicas) {
    EXPECT_EQ(each, replicas.front()) << "replicas differ";
  }
  EXPECT_LE(RelativeDistance(
                replicas.front(),
                Train("reference_float64", StrategyKind::kAllReduce).front()),
            1e-4);
  EXPECT_LE(RelativeDistance(replicas.front(),
                             Train(device, StrategyKind::kAllReduce).front()),
            1e-5);
}

constexpr const char* kOptimizers[] = {
    "SGD",
    "{SGD: {momentum: 0.5, nesterov: true}}",
    "{Adam: {amsgrad: true}}",
    "{RMSprop: {momentum: 0.5, centered: true}}",
    "{Adagrad: {learning_rate: 0.1}}",
    "{Ftrl: {learning_rate: 0.1}}",
    ("{SGD: {learning_rate: {ExponentialDecay: {initial_learning_rate: 0.1,"
     " decay_steps: 1, decay_rate: 0.5}}}}"),
    "{SGD: {clipvalue: 0.01}}",
    "{Lamb: {clipvalue: 0.01}}",
    "{Lamb: {global_clipnorm: 0.2}}",
    "Muon",
    "{Muon: {clipvalue: 0.01, nesterov: false, ns_steps: 2}}",
    "{Muon: {exclude_layers: [dense_1], ns_steps: 0}}",
    "{Muon: {global_clipnorm: 0.2}}",
    "{Adam: {clipnorm: 0.1}}",
    "{AdamW: {weight_decay: 5}}",
    "{Lamb: {weight_decay: 5}}",
    "{Muon: {weight_decay: 5, adam_weight_decay: null}}",
    "{SGD: {weight_decay: 5, exclude_from_weight_decay: [kernel]}}",
    "{SGD: {momentum: 0.5, global_clipnorm: 0.2}}",
    "{Adam: {use_ema: true, ema_momentum: 0.5, ema_overwrite_frequency: 2}}",
    "{Muon: {use_ema: true, ema_momentum: 0.5, ema_overwrite_frequency: 2}}",
    "{Adam: {gradient_accumulation_steps: 2, use_ema: true, clipnorm: 0.1}}",
    "{Muon: {gradient_accumulation_steps: 3, weight_decay: 5}}",
    "{Lamb: {gradient_accumulation_steps: 2, global_clipnorm: 0.2}}"};

// A few under the thread sanitizer, which sees the same threads with each.
std::vector<const char*> OptimizersUnderTest() {
#ifdef __SANITIZE_THREAD__
  return {std::begin(kOptimizers), std::begin(kOptimizers) + 3};
#else
  return {std::begin(kOptimizers), std::end(kOptimizers)};
#endif
}

INSTANTIATE_TEST_SUITE_P(
    OnFake, DeviceUpdateTest,
    ::testing::Combine(::testing::Values("cuda_on_fake"),
                       ::testing::ValuesIn(OptimizersUnderTest()),
                       ::testing::Values(1, 4), ::testing::Values(1, 2, 5)));
// A single replica, since one GPU cannot form a group.
INSTANTIATE_TEST_SUITE_P(
    OnGpu, DeviceUpdateTest,
    ::testing::Combine(
        ::testing::ValuesIn(GpuStatus().ok() ? std::vector<const char*>{"cuda"}
                                             : std::vector<const char*>{}),
        ::testing::ValuesIn(OptimizersUnderTest()), ::testing::Values(1, 4),
        ::testing::Values(1)));

TEST(SwappingDeviceUpdateTest, SwappedAveragesAreThoseOfTraining) {
  const Models models(kRegularizedLayers);
  for (const int count : {1, 3}) {
    for (const int steps_per_execution : {1, 4}) {
      Job job = {models,
                 "{SGD: {momentum: 0.5, use_ema: true, ema_momentum: 0.5,"
                 " ema_overwrite_frequency: 50}}",
                 DeviceNamed("cuda_on_fake"), steps_per_execution};
      const auto train = [&] {
        return TrainReplicas(job, StrategyKind::kDeviceUpdate, count);
      };
      const std::vector<Variables> averages = train();
      job.optimizer =
          "{SGD: {momentum: 0.5, use_ema: true, ema_momentum: 0.5}}";
      EXPECT_NE(train(), averages);
      job.swaps_averages = true;
      EXPECT_EQ(train(), averages) << count << " " << steps_per_execution;
    }
  }
}

TEST(ConstrainedDeviceUpdateTest, EndsWhereTheReferenceDoes) {
  const Models models(kConstrainedLayers);
  const auto train = [&models](const char* device, StrategyKind kind,
                               int count) {
    return TrainReplicas({models, "Adam", DeviceNamed(device)}, kind, count)
        .front();
  };
  const Variables reference =
      train("reference_float64", StrategyKind::kAllReduce, 1);
  for (const int count : {1, 3}) {
    const Variables updated =
        train("cuda_on_fake", StrategyKind::kDeviceUpdate, count);
    EXPECT_LE(RelativeDistance(updated, reference), 1e-4) << count;
  }
}

}  // namespace
}  // namespace paceline
