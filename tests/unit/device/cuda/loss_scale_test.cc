// Dynamic loss scaling: its kernels, and what becomes of a step whose gradients
// overflow in float16.
#include "worker/device/cuda/kernels/loss_scale.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "common/optimizer/adam.h"
#include "common/optimizer/sgd.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/fake_gpu.h"
#include "tests/conformance/model_under_test.h"
#include "worker/device/cuda/cuda_device.h"
#include "worker/device/cuda/cuda_state.h"
#include "worker/device/reference/reference_device.h"

namespace paceline {
namespace {

using cuda::LossScale;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::FloatNear;
using ::testing::Pointwise;

void EndStep(LossScale& scale, bool has_overflow) {
  scale.has_overflow = has_overflow ? 1 : 0;
  cuda::AdaptLossScale{&scale}(0);
  EXPECT_EQ(scale.has_overflow, 0);
}

TEST(LossScaleTest, DoublesAfter2000StepsAndHalvesAfterAnOverflow) {
  LossScale scale;
  EXPECT_EQ(scale.scale(), 32768);
  for (int step = 0; step < 1999; ++step) EndStep(scale, false);
  EXPECT_EQ(scale.scale(), 32768);
  EndStep(scale, false);
  EXPECT_EQ(scale.scale(), 65536);
  for (int step = 0; step < 1999; ++step) EndStep(scale, false);
  EndStep(scale, true);
  EXPECT_EQ(scale.scale(), 32768);
  // It counts from the start again.
  for (int step = 0; step < 1999; ++step) EndStep(scale, false);
  EXPECT_EQ(scale.scale(), 32768);
}

TEST(LossScaleTest, IsNeverBelow1) {
  LossScale scale;
  for (int step = 0; step < 40; ++step) EndStep(scale, true);
  EXPECT_EQ(scale.scale(), 1);
}

TEST(LossScaleTest, BeginsAsItIsTold) {
  LossScale scale = {.first_scale = 100, .growth_steps = 3, .finite_steps = 1};
  EndStep(scale, false);
  EXPECT_EQ(scale.scale(), 100);
  EndStep(scale, false);
  EXPECT_EQ(scale.scale(), 200);
  EXPECT_EQ(scale.finite_steps, 0);
  for (int step = 0; step < 40; ++step) EndStep(scale, true);
  EXPECT_EQ(scale.scale(), 1.5625f);
}

TEST(LossScaleTest, AnOverflowAnywhereIsNoticed) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {kInfinity, -kInfinity, std::nanf("")}) {
    for (int index = 0; index < 6; ++index) {
      alignas(16) float gradients[8] = {32768, 65536, 0, -32768, 32768, 32768};
      LossScale scale;
      const cuda::UnscaleGradients unscale{6, gradients, &scale};
      for (int block = 0; block < 2; ++block) unscale(block);
      EXPECT_EQ(scale.has_overflow, 0);
      EXPECT_EQ(gradients[1], 2);
      EXPECT_EQ(gradients[3], -1);
      EXPECT_EQ(gradients[5], 1);
      gradients[index] = bad;
      for (int block = 0; block < 2; ++block) unscale(block);
      EXPECT_EQ(scale.has_overflow, 1) << bad << " at " << index;
    }
  }
}

TEST(LossScaleTest, LossesOfSkippedStepsDoNotCountUnlessTheScaleIs1) {
  LossScale scale;
  double total = 0;
  double count = 0;
  int64_t first_step = 0;
  cuda::StepValues step;
  const auto end_step = [&](int64_t number, double loss, bool has_overflow) {
    step.number = number;
    scale.loss_total = loss;
    scale.loss_count = 2;
    scale.has_overflow = has_overflow ? 1 : 0;
    cuda::CountLoss{&scale, &total, &count, {&step, &first_step}}(0);
    EndStep(scale, has_overflow);
  };
  end_step(1, NAN, true);
  EXPECT_EQ(count, 0);
  end_step(2, 3, false);
  end_step(3, 4, true);
  EXPECT_EQ(total, 7);
  EXPECT_EQ(count, 4);
  EXPECT_EQ(first_step, 0);
  int64_t number = 4;
  while (scale.scale() > 1) end_step(number++, NAN, true);
  EXPECT_EQ(first_step, 0);
  end_step(number, NAN, true);
  EXPECT_EQ(first_step, number);
  EXPECT_TRUE(std::isnan(total));
  // Without an overflow it counts at any scale.
  scale = LossScale();
  total = first_step = 0;
  end_step(7, HUGE_VAL, false);
  EXPECT_EQ(first_step, 7);
}

// --- A model whose gradients overflow at first: those of the last layer are
// thousands times the scale, which the layers before take as float16.

ModelConfig Config(Precision precision, int width = 2) {
  return {.layers = *ReadYaml(
              absl::StrCat("[Input: {shape: [3]}, Dense: {units: ", width,
                           "}, BatchNormalization: {}, Dense: {units: ", width,
                           "}, Dense: {units: 1}]"),
              "model", limits::kMaxJobBytes),
          .precision = precision};
}

constexpr float kFeatures[] = {0.5, 1, -0.5, 0.25, 1, 0.75};
constexpr float kLabels[] = {-1000, -900};

Examples TwoExamples() {
  Examples examples;
  examples.count = 2;
  examples.features = {{std::begin(kFeatures), std::end(kFeatures)}};
  examples.labels = {{std::begin(kLabels), std::end(kLabels)}};
  return examples;
}

TEST(LossScaleTest, AStateBeginsWithThatOfTheProgram) {
  const ModelUnderTest model(Config(Precision::kMixedFloat16));
  CudaDevice device(cuda::MakeFakeGpu());
  ProgramSpec spec = model.Spec(Mode::kTrain, 2);
  spec.loss_scaling = {.initial_scale = 100,
                       .dynamic_growth_steps = 3,
                       .dynamic_scale = 25,
                       .step_counter = 2};
  const std::unique_ptr<ModelState> state = *device.CreateState(spec);
  const LossScale& scale = *static_cast<CudaState&>(*state).loss_scale();
  EXPECT_EQ(scale.scale(), 25);
  EXPECT_EQ(scale.growth_steps, 3);
  EXPECT_EQ(scale.finite_steps, 2);
}

TEST(OverflowTest, GradientsThatLeaveAre0UntilTheScaleFits) {
  const ModelUnderTest exact_model(Config(Precision::kFloat32));
  ReferenceDevice<double> reference;
  ModelOnDevice exact(exact_model, reference);
  exact.SetVariables(exact_model.SomeVariables());
  const StepResult expected = exact.Train(TwoExamples());

  const ModelUnderTest model(Config(Precision::kMixedFloat16));
  CudaDevice device(cuda::MakeFakeGpu());
  ModelOnDevice on_device(model, device);
  on_device.SetVariables(model.SomeVariables());
  StepResult result = on_device.Train(TwoExamples());
  EXPECT_THAT(result.gradients[0], Each(0));
  for (int step = 0; step < 30 && result.gradients[0][0] == 0; ++step) {
    result = on_device.Train(TwoExamples());
  }
  for (size_t i = 0; i < expected.gradients.size(); ++i) {
    double largest = 1;
    for (const double value : expected.gradients[i]) {
      largest = std::max(largest, std::abs(value));
    }
    EXPECT_THAT(result.gradients[i],
                Pointwise(DoubleNear(0.02 * largest), expected.gradients[i]))
        << model.graph().variables[i].name;
  }
}

TEST(OverflowTest, TheScaleChangesOnceAStepWithSeveralSections) {
  // The second layer's kernel fills a bucket.
  const ModelUnderTest model(Config(Precision::kMixedFloat16, /*width=*/1100));
  CudaDevice device(cuda::MakeFakeGpu());
  const std::unique_ptr<Stream> stream = *device.CreateStream();
  const ProgramSpec spec = model.Spec(Mode::kTrain, 2);
  const std::unique_ptr<ModelState> state = *device.CreateState(spec);
  const std::unique_ptr<Program> program = *device.Compile(spec, *state);
  ASSERT_GE(program->sections().size(), 2u);
  const auto buckets = static_cast<int>(model.layout().buckets().size());
  for (int bucket = 0; bucket < buckets; ++bucket) {
    const absl::Span<std::byte> bytes = state->host_variables(bucket);
    auto* const values = reinterpret_cast<float*>(bytes.data());
    std::fill_n(values, bytes.size() / sizeof(float), 0.5f);
    ASSERT_TRUE(state->UploadVariables(bucket, *stream).ok());
  }
  const LossScale& scale = *static_cast<CudaState&>(*state).loss_scale();
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(scale.scale(), std::ldexp(1.0f, 15 - step));
    ASSERT_TRUE(program
                    ->SetBatch({.count = 2,
                                .features = {{DataType::kFloat32, kFeatures}},
                                .labels = {{DataType::kFloat32, kLabels}}},
                               *stream)
                    .ok());
    for (size_t i = 0; i < program->sections().size(); ++i) {
      const int section = static_cast<int>(i);
      ASSERT_TRUE(program->Enqueue(section, *stream).ok());
      ASSERT_TRUE(program->section_event(section).Wait().ok());
    }
    const VariableLocation first = model.layout().location(0);
    const auto* const gradients = reinterpret_cast<const float*>(
        state->host_gradients(first.bucket).data());
    EXPECT_EQ(gradients[first.offset], 0);
  }
}

// Of an example that no scale mends.
TEST(OverflowTest, TheStateNotesALossThatIsNotFinite) {
  const ModelUnderTest model(Config(Precision::kMixedFloat16));
  const float features[] = {HUGE_VALF, 1, 1, 1, 1, 1};
  for (const bool updates : {false, true}) {
    CudaDevice device(cuda::MakeFakeGpu());
    const std::unique_ptr<Stream> stream = *device.CreateStream();
    const Sgd sgd;
    ProgramSpec spec = model.Spec(Mode::kTrain, 2);
    if (updates) spec.optimizer = &sgd;
    const std::unique_ptr<ModelState> state = *device.CreateState(spec);
    const std::unique_ptr<Program> program = *device.Compile(spec, *state);
    MetricSums sums = {{0, 0}};
    int64_t step = 0;
    while (sums.first_nonfinite_step == 0 && ++step < 30) {
      ASSERT_TRUE(program
                      ->SetBatch({.count = 2,
                                  .features = {{DataType::kFloat32, features}},
                                  .labels = {{DataType::kFloat32, kLabels}},
                                  .step = step},
                                 *stream)
                      .ok());
      for (size_t i = 0; i < program->sections().size(); ++i) {
        ASSERT_TRUE(program->Enqueue(static_cast<int>(i), *stream).ok());
      }
      ASSERT_TRUE(state->TakeMetrics(*stream, sums).ok());
    }
    // Each of those before made the scale smaller.
    EXPECT_EQ(step, 16);
    EXPECT_EQ(sums.first_nonfinite_step, 16);
    EXPECT_EQ(sums.states[1], 2);
  }
}

// The trained variables after steps that the device updates itself.
std::vector<float> VariablesAfter(int steps, Precision precision,
                                  const Optimizer& optimizer,
                                  int steps_per_execution) {
  const ModelUnderTest model(Config(precision));
  CudaDevice device(cuda::MakeFakeGpu());
  const std::unique_ptr<Stream> stream = *device.CreateStream();
  ProgramSpec spec = model.Spec(Mode::kTrain, 2);
  spec.optimizer = &optimizer;
  spec.steps_per_execution = steps_per_execution;
  const std::unique_ptr<ModelState> state = *device.CreateState(spec);
  const std::unique_ptr<Program> program = *device.Compile(spec, *state);
  const int bucket = model.layout().location(0).bucket;
  const absl::Span<std::byte> bytes = state->host_variables(bucket);
  auto* const values = reinterpret_cast<float*>(bytes.data());
  const size_t count = bytes.size() / sizeof(float);
  for (size_t i = 0; i < count; ++i) {
    values[i] = 0.25f + 0.125f * static_cast<float>(i % 5);
  }
  EXPECT_TRUE(state->UploadVariables(bucket, *stream).ok());
  for (int step = 0; step < steps; ++step) {
    EXPECT_TRUE(program
                    ->SetBatch({.count = 2,
                                .features = {{DataType::kFloat32, kFeatures}},
                                .labels = {{DataType::kFloat32, kLabels}},
                                .loss_divisor = 2},
                               *stream)
                    .ok());
    EXPECT_TRUE(program->Enqueue(0, *stream).ok());
  }
  EXPECT_TRUE(state->device_updates()->DownloadVariables(bucket, *stream).ok());
  return {values, values + count};
}

class SkippedUpdateTest : public ::testing::TestWithParam<int> {
 protected:
  void ExpectSkips(const Optimizer& optimizer) {
    const auto after = [&](int steps, Precision precision) {
      return VariablesAfter(steps, precision, optimizer, GetParam());
    };
    const std::vector<float> start = after(0, Precision::kMixedFloat16);
    int skipped = 0;
    while (skipped < 30 &&
           after(skipped + 1, Precision::kMixedFloat16) == start) {
      ++skipped;
    }
    EXPECT_GT(skipped, 3);
    ASSERT_LT(skipped, 30);
    for (const float value : after(skipped + 5, Precision::kMixedFloat16)) {
      EXPECT_TRUE(std::isfinite(value));
    }
    if (optimizer.class_name() == Adam::kClassName) return;
    // Its first step is that without a scale; Adam's has its number.
    EXPECT_THAT(after(skipped + 1, Precision::kMixedFloat16),
                Pointwise(FloatNear(0.02), after(1, Precision::kFloat32)));
  }
};

TEST_P(SkippedUpdateTest, Sgd) {
  Sgd sgd;
  sgd.learning_rate = {1e-3};
  sgd.momentum = 0.5;
  ExpectSkips(sgd);
}

TEST_P(SkippedUpdateTest, AdamWithANorm) {
  Adam adam;
  adam.amsgrad = true;
  adam.clipping.global_norm = 1;
  ExpectSkips(adam);
}

INSTANTIATE_TEST_SUITE_P(StepsPerExecution, SkippedUpdateTest,
                         ::testing::Values(1, 4));

}  // namespace
}  // namespace paceline
