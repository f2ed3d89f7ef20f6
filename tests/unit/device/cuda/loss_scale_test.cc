// Dynamic loss scaling: its kernels, and what becomes of a step whose gradients
// overflow in float16.
#include "worker/device/cuda/kernels/loss_scale.h"

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "common/optimizer/sgd.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/fake_gpu.h"
#include "tests/conformance/model_under_test.h"
#include "worker/device/cuda/cuda_device.h"
#include "worker/device/reference/reference_device.h"

namespace paceline {
namespace {

using cuda::LossScale;
using ::testing::Each;
using ::testing::FloatEq;
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

TEST(LossScaleTest, AnOverflowAnywhereIsNoticed) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {kInfinity, -kInfinity, std::nanf("")}) {
    for (int place = 0; place < 6; ++place) {
      alignas(16) float gradients[8] = {32768, 65536, 0, -32768, 32768, 32768};
      LossScale scale;
      const cuda::UnscaleGradients unscale{6, gradients, &scale};
      for (int block = 0; block < 2; ++block) unscale(block);
      EXPECT_EQ(scale.has_overflow, 0);
      EXPECT_EQ(gradients[1], 2);
      EXPECT_EQ(gradients[3], -1);
      EXPECT_EQ(gradients[5], 1);
      gradients[place] = bad;
      for (int block = 0; block < 2; ++block) unscale(block);
      EXPECT_EQ(scale.has_overflow, 1) << bad << " at " << place;
    }
  }
}

// --- A model whose gradients overflow while the scale is above 32: the second
// layer's are about 1,500 times the scale, which the first takes as float16.

class OverflowTest : public ::testing::Test {
 protected:
  OverflowTest() {
    examples_.count = 2;
    examples_.features = {0.5, 1, -0.5, 0.25, 1, 0.75};
    examples_.labels = {-1000, -900};
  }

  static ModelUnderTest Model(Precision precision) {
    return ModelUnderTest(
        {.layers = *ReadYaml("[Input: {shape: [3]}, Dense: {units: 2},"
                             " Dense: {units: 1}]",
                             "model", limits::kMaxJobBytes),
         .precision = precision});
  }
  static std::vector<std::vector<double>> Variables() {
    return {{0.5, -0.25, 1, 0.5, -0.5, 0.25}, {0, 0}, {0.75, -0.5}, {0}};
  }
  // The scale is halved from 2^15 to 2^5.
  static constexpr int kStepsWithOverflow = 10;

  Examples examples_;
};

TEST_F(OverflowTest, GradientsThatLeaveAre0UntilTheScaleFits) {
  const ModelUnderTest exact_model = Model(Precision::kFloat32);
  ReferenceDevice<double> reference;
  ModelOnDevice exact(exact_model, reference);
  exact.SetVariables(Variables());
  const StepResult expected = exact.Train(examples_);

  const ModelUnderTest model = Model(Precision::kMixedFloat16);
  CudaDevice device(cuda::MakeFakeGpu());
  ModelOnDevice on_device(model, device);
  on_device.SetVariables(Variables());
  for (int step = 0; step < kStepsWithOverflow; ++step) {
    const StepResult result = on_device.Train(examples_);
    EXPECT_THAT(result.gradients[0], Each(0)) << "step " << step;
    EXPECT_NEAR(result.sums.totals[0], expected.sums.totals[0], 1e3);
  }
  const StepResult result = on_device.Train(examples_);
  for (size_t i = 0; i < expected.gradients.size(); ++i) {
    EXPECT_THAT(result.gradients[i],
                Pointwise(::testing::DoubleNear(2), expected.gradients[i]));
  }
}

TEST_F(OverflowTest, TheDevicesUpdateWaitsUntilTheScaleFits) {
  const ModelUnderTest model = Model(Precision::kMixedFloat16);
  const ModelUnderTest plain_model = Model(Precision::kFloat32);
  Sgd sgd;
  sgd.momentum = 0.5;
  const auto variables_after = [&](const ModelUnderTest& of, int steps) {
    CudaDevice device(cuda::MakeFakeGpu());
    const std::unique_ptr<Stream> stream = *device.CreateStream();
    ProgramSpec spec = of.Spec(Mode::kTrain, 2);
    spec.optimizer = &sgd;
    const std::unique_ptr<ModelState> state = *device.CreateState(spec);
    const std::unique_ptr<Program> program = *device.Compile(spec, *state);
    const absl::Span<std::byte> bytes = state->host_variables(0);
    auto* const values = reinterpret_cast<float*>(bytes.data());
    const size_t count = bytes.size() / sizeof(float);
    for (size_t i = 0; i < count; ++i) {
      values[i] = 0.125f * static_cast<float>(i % 5) - 0.25f;
    }
    EXPECT_TRUE(state->UploadVariables(0, *stream).ok());
    const std::vector<float> features(examples_.features.begin(),
                                      examples_.features.end());
    const std::vector<float> labels(examples_.labels.begin(),
                                    examples_.labels.end());
    for (int step = 0; step < steps; ++step) {
      EXPECT_TRUE(
          program
              ->SetBatch({.count = 2,
                          .features = {DataType::kFloat32, features.data()},
                          .labels = {DataType::kFloat32, labels.data()},
                          .loss_divisor = 2},
                         *stream)
              .ok());
      EXPECT_TRUE(program->Enqueue(0, *stream).ok());
    }
    EXPECT_TRUE(state->device_updates()->DownloadVariables(0, *stream).ok());
    return std::vector<float>(values, values + count);
  };

  const std::vector<float> start = variables_after(model, 0);
  EXPECT_EQ(variables_after(model, 5), start);
  // From its first step without an overflow on it is as without a scale.
  int skipped = 0;
  while (skipped < 20 && variables_after(model, skipped + 1) == start) {
    ++skipped;
  }
  ASSERT_LT(skipped, 20);
  const std::vector<float> expected = variables_after(plain_model, 1);
  EXPECT_THAT(variables_after(model, skipped + 1),
              Pointwise(::testing::FloatNear(0.05), expected));
}

}  // namespace
}  // namespace paceline
