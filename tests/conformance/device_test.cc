// What every device must do. Values are compared with the reference device in
// float64, whose gradients are checked by finite differences.
#include "worker/device/device.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/devices.h"
#include "tests/conformance/fixture.h"
#include "tests/conformance/model_under_test.h"
#include "worker/device/bucket_memory.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

void ExpectResultNear(const StepResult& actual, const StepResult& expected,
                      double tolerance, const ModelUnderTest& model) {
  ASSERT_EQ(actual.outputs.size(), expected.outputs.size());
  for (size_t i = 0; i < expected.outputs.size(); ++i) {
    ExpectAllNear(actual.outputs[i], expected.outputs[i], tolerance,
                  absl::StrCat("output ", i));
  }
  ASSERT_EQ(actual.gradients.size(), expected.gradients.size());
  for (size_t i = 0; i < expected.gradients.size(); ++i) {
    ExpectAllNear(
        actual.gradients[i], expected.gradients[i], tolerance,
        absl::StrCat("gradient of ", model.graph().variables[i].name));
  }
  ExpectAllNear(actual.sums.states, expected.sums.states, tolerance, "states");
}

void ExpectStepsAgree(Fixture& actual, Fixture& expected,
                      const Examples& examples, double tolerance) {
  const StepResult trained = expected.on_device.Train(examples);
  const StepResult evaluated = expected.on_device.Evaluate(examples);
  for (int step = 1; step <= kStepsUntilAllIsSeen; ++step) {
    SCOPED_TRACE(absl::StrCat("training, step ", step));
    ExpectResultNear(actual.on_device.Train(examples), trained, tolerance,
                     actual.model);
  }
  for (int step = 1; step <= kStepsUntilAllIsSeen; ++step) {
    SCOPED_TRACE(absl::StrCat("evaluation, step ", step));
    ExpectResultNear(actual.on_device.Evaluate(examples), evaluated, tolerance,
                     actual.model);
  }
}

const Case& CaseNamed(const std::string& name) {
  return *std::find_if(Cases().begin(), Cases().end(),
                       [&](const Case& each) { return each.name == name; });
}

// --- Each device on each case

class DeviceCaseTest : public ::testing::TestWithParam<
                           std::tuple<DeviceUnderTest, Case, int64_t>> {};

TEST_P(DeviceCaseTest, AgreesWithReference) {
  const auto& [under_test, each, batch_size] = GetParam();
#ifdef __SANITIZE_ADDRESS__
  if (under_test.name == "reference_float64") {
    GTEST_SKIP() << "runs on the other side of each comparison";
  }
#endif
  Fixture actual(under_test, each.config);
  const absl::Status status =
      actual.device->Supports(actual.model.Spec(Mode::kTrain, 1));
  ASSERT_TRUE(status.ok()) << status;
  Fixture expected(Float64Reference(), each.config);
  Examples examples = actual.model.SomeExamples(batch_size);
  examples.first_example = 100;
  examples.epoch = 2;
  ExpectStepsAgree(actual, expected, examples, under_test.tolerance);
}

INSTANTIATE_TEST_SUITE_P(
    , DeviceCaseTest,
    ::testing::Combine(::testing::ValuesIn(DevicesUnderTest()),
                       ::testing::ValuesIn(Cases()),
                       ::testing::Values<int64_t>(1, 5)),
    [](const auto& info) {
      return absl::StrCat(std::get<0>(info.param).name, "_",
                          std::get<1>(info.param).name, "_batch_",
                          std::get<2>(info.param));
    });

// --- The GPU, which not every machine has

TEST(GpuTest, IsUnderTest) {
  const auto& devices = DevicesUnderTest();
  const bool is_under_test =
      std::any_of(devices.begin(), devices.end(),
                  [](const auto& each) { return each.name == "cuda"; });
  const std::string obstacle = GpuObstacle();
  EXPECT_EQ(is_under_test, obstacle.empty()) << GpuStatus();
  if (!obstacle.empty()) {
    GTEST_SKIP() << "no case runs on a GPU, of " << 2 * Cases().size()
                 << " and those of Keras and of each device alone: "
                 << obstacle;
  }
}

// --- Gradients of the reference

class GradientTest : public ::testing::TestWithParam<Case> {};

TEST_P(GradientTest, IsThatOfFiniteDifferences) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "too slow under a sanitizer, for which DeviceCaseTest runs "
                  "the same kernels";
#endif
  Fixture fixture(Float64Reference(), GetParam().config);
  Examples examples = fixture.model.SomeExamples(2);
  const std::vector<std::vector<double>> gradients =
      fixture.on_device.Train(examples).gradients;
  const auto loss_with =
      [&](const std::vector<std::vector<double>>& variables) {
        fixture.on_device.SetVariables(variables);
        const MetricSums sums = fixture.on_device.Train(examples).sums;
        return sums.states[0] / sums.states[1];
      };
  // At most this many elements of a variable.
  constexpr size_t kSamples = 12;
  constexpr double kStep = 1e-6;
  int compared = 0;
  for (size_t v = 0; v < gradients.size(); ++v) {
    if (!fixture.model.graph().variables[v].is_trained()) continue;
    const size_t stride = (gradients[v].size() + kSamples - 1) / kSamples;
    for (size_t i = 0; i < gradients[v].size(); i += stride) {
      std::vector<std::vector<double>> variables =
          fixture.model.SomeVariables();
      variables[v][i] += kStep;
      const double above = loss_with(variables);
      variables[v][i] -= 2 * kStep;
      const double below = loss_with(variables);
      const double gradient = gradients[v][i];
      // Rounding errors grow with the loss, errors of the finite difference
      // with the gradient.
      ASSERT_NEAR(gradient, (above - below) / (2 * kStep),
                  2e-8 * (1 + std::abs(gradient) + above))
          << fixture.model.graph().variables[v].name << ", element " << i;
      ++compared;
    }
  }
  const auto& variables = fixture.model.graph().variables;
  EXPECT_EQ(compared > 0,
            std::any_of(variables.begin(), variables.end(),
                        [](const auto& each) { return each.is_trained(); }));
}

INSTANTIATE_TEST_SUITE_P(, GradientTest, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

// --- Each device alone

class DeviceTest : public ::testing::TestWithParam<DeviceUnderTest> {
 protected:
  static const ModelConfig& Network() { return CaseNamed("network").config; }
};

// A diverged model must not look finite after a rectifier.
TEST_P(DeviceTest, NormalizationPassesNanOn) {
  const auto are_nan = [](const std::vector<double>& values) {
    std::vector<bool> are;
    for (const double each : values) are.push_back(std::isnan(each));
    return are;
  };
  for (const std::string behind : {"", ", ReLU: {}", ", ReLU: {max_value: 0.5}",
                                   ", Activation: {activation: relu6}"}) {
    SCOPED_TRACE(behind);
    const auto layers =
        ReadYaml(absl::StrCat("[Input: {shape: [4]}, BatchNormalization: {}",
                              behind, "]"),
                 "model", limits::kMaxJobBytes);
    ASSERT_TRUE(layers.ok()) << layers.status();
    Fixture actual(GetParam(), {.layers = *layers});
    Fixture expected(Float64Reference(), {.layers = *layers});
    Examples examples = actual.model.SomeExamples(5);
    examples.features[0][5] = std::nan("");
    const std::vector<double> output =
        actual.on_device.Evaluate(examples).outputs[0];
    EXPECT_TRUE(std::isnan(output[5]));
    EXPECT_EQ(are_nan(output),
              are_nan(expected.on_device.Evaluate(examples).outputs[0]));
    const auto gradients = actual.on_device.Train(examples).gradients;
    const auto reference = expected.on_device.Train(examples).gradients;
    ASSERT_EQ(gradients.size(), reference.size());
    for (size_t v = 0; v < gradients.size(); ++v) {
      EXPECT_EQ(are_nan(gradients[v]), are_nan(reference[v])) << v;
    }
  }
}

// As in Keras, a prediction that is not finite counts as wrong.
TEST_P(DeviceTest, TopKAccuracyOfWhatIsNotFiniteIs0) {
  const auto layers = ReadYaml("[Input: {shape: [2]}, Dense: {units: 4}]",
                               "model", limits::kMaxJobBytes);
  ASSERT_TRUE(layers.ok()) << layers.status();
  for (const std::string prefix : {"", "Sparse"}) {
    SCOPED_TRACE(prefix);
    Fixture fixture(
        GetParam(),
        {.layers = *layers,
         .loss = prefix + "CategoricalCrossentropy",
         .metrics = Value::List{prefix + "TopKCategoricalAccuracy"}});
    const Examples examples = fixture.model.SomeExamples(3);
    // With 4 classes every label is in the top 5.
    EXPECT_EQ(fixture.on_device.Evaluate(examples).sums.states[2], 3);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double bias : {std::nan(""), kInfinity, -kInfinity}) {
      auto variables = fixture.model.SomeVariables();
      variables[1][2] = bias;
      fixture.on_device.SetVariables(variables);
      EXPECT_EQ(fixture.on_device.Evaluate(examples).sums.states[2], 0) << bias;
    }
  }
}

TEST_P(DeviceTest, RepeatsItselfBitForBit) {
  Fixture first(Deterministic(GetParam()), Network());
  Fixture second(Deterministic(GetParam()), Network());
  const Examples examples = first.model.SomeExamples(7);
  const StepResult once = first.on_device.Train(examples);
  for (int step = 2; step <= kStepsUntilAllIsSeen; ++step) {
    EXPECT_EQ(first.on_device.Train(examples).gradients, once.gradients)
        << "step " << step;
  }
  const StepResult elsewhere = second.on_device.Train(examples);
  EXPECT_EQ(once.gradients, elsewhere.gradients);
  EXPECT_EQ(once.sums.states, elsewhere.sums.states);
}

TEST_P(DeviceTest, PredictsWithoutLabelsWhatItEvaluates) {
  for (const Case& each : Cases()) {
    SCOPED_TRACE(each.name);
    if (each.config.precision != Precision::kFloat32) continue;
    Fixture fixture(Deterministic(GetParam()), each.config);
    const Examples examples = fixture.model.SomeExamples(3);
    const StepResult evaluated = fixture.on_device.Evaluate(examples);
    EXPECT_EQ(fixture.on_device.Predict(examples), evaluated.outputs);
  }
}

// A larger program needs a larger arena, so the tensors of all programs of the
// state move.
TEST_P(DeviceTest, StepsAgreeBeforeAndAfterThoseOfALargerProgram) {
  Fixture actual(GetParam(), Network());
  Fixture expected(Float64Reference(), Network());
  const double tolerance = GetParam().tolerance;
  for (const int64_t batch_size : {3, 70, 3, 70}) {
    SCOPED_TRACE(absl::StrCat("batch size ", batch_size));
    ExpectStepsAgree(actual, expected, actual.model.SomeExamples(batch_size),
                     tolerance);
  }
}

TEST_P(DeviceTest, PartsOfABatchAddUpToIt) {
  Fixture fixture(GetParam(), Network());
  const Examples whole = fixture.model.SomeExamples(5);
  const StepResult expected = fixture.on_device.Train(whole);
  StepResult sum;
  for (const auto& [begin, count] : {std::pair(0, 3), std::pair(3, 2)}) {
    const auto features = static_cast<int64_t>(whole.features[0].size()) / 5;
    Examples part = whole;
    part.count = count;
    part.first_example = begin;
    part.features[0].assign(
        whole.features[0].begin() + begin * features,
        whole.features[0].begin() + (begin + count) * features);
    part.labels[0].assign(whole.labels[0].begin() + begin,
                          whole.labels[0].begin() + begin + count);
    part.regularization_scale = 0.5;
    const StepResult result = fixture.on_device.Train(part);
    sum.gradients.resize(result.gradients.size());
    for (size_t v = 0; v < result.gradients.size(); ++v) {
      sum.gradients[v].resize(result.gradients[v].size());
      for (size_t i = 0; i < result.gradients[v].size(); ++i) {
        sum.gradients[v][i] += result.gradients[v][i];
      }
    }
    sum.sums.states.resize(result.sums.states.size());
    sum.sums.Add(result.sums);
  }
  ExpectResultNear(sum, expected, 2 * GetParam().tolerance, fixture.model);
}

TEST_P(DeviceTest, ScalesLossAndPenaltyApart) {
  const ModelConfig& config = CaseNamed("l1").config;
  Fixture fixture(GetParam(), config);
  Examples examples = fixture.model.SomeExamples(4);
  const auto gradient = [&](double loss_divisor, double regularization_scale) {
    examples.loss_divisor = loss_divisor;
    examples.regularization_scale = regularization_scale;
    return fixture.on_device.Train(examples).gradients[0];
  };
  const std::vector<double> both = gradient(4, 1);
  const std::vector<double> loss_only = gradient(4, 0);
  const std::vector<double> half = gradient(8, 0.25);
  std::vector<double> expected;
  for (size_t i = 0; i < both.size(); ++i) {
    expected.push_back(loss_only[i] / 2 + (both[i] - loss_only[i]) / 4);
  }
  ExpectAllNear(half, expected, 2 * GetParam().tolerance, "gradient");
}

// Each example counts once, whatever the number of outputs.
TEST_P(DeviceTest, TheLossIsTheWeightedSumOfThoseOfTheOutputs) {
  Fixture fixture(GetParam(), CaseNamed("outputs").config);
  const StepResult result =
      fixture.on_device.Train(fixture.model.SomeExamples(4));
  // Totals and counts of the loss, of the first output's accuracy and
  // cross-entropy, and of the second output's squared error.
  const std::vector<double>& states = result.sums.states;
  ASSERT_EQ(states.size(), 8u);
  for (const size_t count : {1, 3, 5, 7}) EXPECT_EQ(states[count], 4);
  EXPECT_GT(states[4], 0);
  EXPECT_GT(states[6], 0);
  EXPECT_NEAR(states[0], states[4] + 0.3 * states[6], 1e-6 * states[0]);
}

TEST_P(DeviceTest, CutsSectionsWhereBucketsBecomeFinal) {
  v1::Partitioner halves;
  halves.set_kind(v1::Partitioner::KIND_FIXED);
  halves.set_parts(2);
  Fixture cut(Deterministic(GetParam()), Network(), halves, 2);
  Fixture whole(Deterministic(GetParam()), Network());
  ASSERT_GT(cut.model.layout().buckets().size(), 1u);
  const Examples examples = cut.model.SomeExamples(3);
  // Each run checks that every bucket is ready once and final once.
  EXPECT_EQ(cut.on_device.Train(examples).gradients,
            whole.on_device.Train(examples).gradients);
}

TEST_P(DeviceTest, GradientsLieInTheMemoryThatIsGiven) {
  const ModelUnderTest model(Network());
  const std::unique_ptr<Device> device = GetParam().make();
  ProgramSpec spec = model.Spec(Mode::kTrain, 2);
  const DataType type = (*device->CreateState(spec))->type();
  const size_t size = GradientBytes(model.layout(), type);
  struct alignas(kBucketAlignment) Line {
    std::byte bytes[kBucketAlignment];
  };
  std::vector<Line> lines(size / sizeof(Line));
  std::byte* const begin = reinterpret_cast<std::byte*>(lines.data());
  std::byte* end = begin;
  spec.gradient_memory = {end, size};
  const std::unique_ptr<ModelState> state = *device->CreateState(spec);
  for (size_t b = 0; b < model.layout().updated_buckets().size(); ++b) {
    const auto gradients = state->host_gradients(static_cast<int>(b));
    EXPECT_EQ(gradients.size(),
              model.layout().buckets()[b].count * SizeOf(type));
    EXPECT_EQ(gradients.data(), end);
    end += (gradients.size() + sizeof(Line) - 1) / sizeof(Line) * sizeof(Line);
  }
  EXPECT_EQ(end, begin + size);
}

TEST_P(DeviceTest, DropsByEpochAndExample) {
  Fixture fixture(Deterministic(GetParam()), CaseNamed("dropout").config);
  Examples examples = fixture.model.SomeExamples(3);
  const auto gradients = [&](int64_t epoch, int64_t first_example) {
    examples.epoch = epoch;
    examples.first_example = first_example;
    return fixture.on_device.Train(examples).gradients;
  };
  const auto first = gradients(0, 0);
  EXPECT_NE(gradients(1, 0), first);
  EXPECT_NE(gradients(0, 3), first);
  EXPECT_EQ(gradients(0, 0), first);
}

TEST_P(DeviceTest, SumsUpUntilTheSumsAreTaken) {
  Fixture fixture(Deterministic(GetParam()),
                  CaseNamed("metrics_sparse").config);
  const Examples examples = fixture.model.SomeExamples(4);
  const MetricSums sums = fixture.on_device.Evaluate(examples).sums;
  ASSERT_EQ(sums.states.size(), 8u);
  for (const size_t count : {1, 3, 5, 7}) EXPECT_EQ(sums.states[count], 4);
  // The first call took them.
  EXPECT_EQ(fixture.on_device.Evaluate(examples).sums.states, sums.states);
}

TEST_P(DeviceTest, RefusesLabelsOutOfRange) {
  Fixture fixture(GetParam(), CaseNamed("two_classes").config);
  const std::vector<double> features(12);
  const std::vector<float> features32(12);
  const bool is_float64 = fixture.on_device.type() == DataType::kFloat64;
  for (const int32_t bad : {-1, 2, 1000}) {
    const int32_t labels[] = {0, bad};
    Batch batch;
    batch.count = 2;
    batch.features = {{fixture.on_device.type(),
                       is_float64 ? static_cast<const void*>(features.data())
                                  : features32.data()}};
    batch.labels = {{DataType::kInt32, labels}};
    const absl::Status status = fixture.on_device.TrySetBatch(batch, 2);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat(bad)));
  }
}

TEST_P(DeviceTest, RefusesIdsOutOfRange) {
  Fixture fixture(GetParam(), CaseNamed("embedding").config);
  const std::vector<double> labels(2 * 7 * 3);
  const bool is_float64 = fixture.on_device.type() == DataType::kFloat64;
  for (const auto& [bad, text] :
       {std::pair(-1.0, "-1"), std::pair(11.0, "11"), std::pair(2.5, "2.5"),
        std::pair(1234567.0, "1234567"), std::pair(0x1p80, "1.20892582e+24"),
        std::pair(std::nan(""), "nan")}) {
    std::vector<double> ids(2 * 7, 10);
    ids[9] = bad;
    const std::vector<float> ids32(ids.begin(), ids.end());
    Batch batch;
    batch.count = 2;
    batch.first_example = 40;
    batch.features = {
        {fixture.on_device.type(),
         is_float64 ? static_cast<const void*>(ids.data()) : ids32.data()}};
    batch.labels = {{fixture.on_device.type(), labels.data()}};
    const absl::Status status = fixture.on_device.TrySetBatch(batch, 2);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_EQ(status.message(),
              absl::StrCat("feature 2 of example 41 is no id: got ", text,
                           ", expected a whole number from 0 to 10"));
  }
}

TEST_P(DeviceTest, RefusesBatchesThatDoNotFit) {
  Fixture fixture(GetParam(), CaseNamed("two_classes").config);
  const std::vector<double> features(12);
  const int32_t labels[] = {0, 1};
  Batch batch;
  batch.count = 2;
  batch.features = {{fixture.on_device.type(), features.data()}};
  batch.labels = {{DataType::kInt32, labels}};
  EXPECT_TRUE(fixture.on_device.TrySetBatch(batch, 2).ok());
  EXPECT_EQ(fixture.on_device.TrySetBatch(batch, 3).code(),
            absl::StatusCode::kInvalidArgument);
  batch.features[0].type = DataType::kUint8;
  EXPECT_EQ(fixture.on_device.TrySetBatch(batch, 2).code(),
            absl::StatusCode::kInvalidArgument);
  batch.features[0].type = fixture.on_device.type();
  batch.labels[0].type = DataType::kFloat32;
  EXPECT_EQ(fixture.on_device.TrySetBatch(batch, 2).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(DeviceTest, NamesWhichOfSeveralInputsOrOutputsDoesNotFit) {
  Fixture fixture(GetParam(), CaseNamed("inputs_of_ids").config);
  const DataType type = fixture.on_device.type();
  // Zeros, in whichever type they are read.
  const std::vector<double> zeros(8);
  std::vector<double> bad64(8, -1);
  std::vector<float> bad32(8, -1);
  const void* const bad = type == DataType::kFloat64
                              ? static_cast<const void*>(bad64.data())
                              : bad32.data();
  const HostTensor good = {type, zeros.data()};
  const auto error = [&](const std::vector<HostTensor>& features,
                         const std::vector<HostTensor>& labels) {
    Batch batch;
    batch.count = 1;
    batch.features = features;
    batch.labels = labels;
    const absl::Status status = fixture.on_device.TrySetBatch(batch, 1);
    EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(error({good, good}, {good}), "");
  EXPECT_EQ(error({good}, {good}),
            "a batch of 1 arrays of features, expected 2");
  EXPECT_EQ(error({good, good}, {}),
            "a batch of 0 arrays of labels, expected 1");
  EXPECT_EQ(error({good, {type, bad}}, {good}),
            "input \"tags\": feature 0 of example 0 is no id: got -1, expected "
            "a whole number from 0 to 4");
  EXPECT_EQ(error({{DataType::kUint8, zeros.data()}, good}, {good}),
            absl::StrCat("input \"words\": features are uint8, expected ",
                         DataTypeName(type)));
}

INSTANTIATE_TEST_SUITE_P(, DeviceTest, ::testing::ValuesIn(DevicesUnderTest()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace paceline
