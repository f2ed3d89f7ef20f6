// Compares every device with results of Keras:
// tests/interop/keras_expected.json, which the script beside it has written.
// The file is read from the source folder, or else from the working folder,
// into which tests/gpu/bundle copies it.
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/config/json_value.h"
#include "common/model/metric_layout.h"
#include "glog/logging.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/conformance/devices.h"
#include "tests/conformance/model_under_test.h"

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;

const Json& KerasExpected() {
  static const auto& expected = *[] {
    const std::string path = "tests/interop/keras_expected.json";
    std::ifstream file(absl::StrCat(PACELINE_SOURCE_DIR, "/", path));
    if (!file) file.open(path);
    CHECK(file) << path << " cannot be read";
    return new Json(Json::parse(file));
  }();
  return expected;
}

const Json& KerasModels() { return KerasExpected()["models"]; }

std::vector<std::string> ModelNames() {
  std::vector<std::string> names;
  for (const Json& model : KerasModels()) names.push_back(model["name"]);
  return names;
}

const Json& ModelNamed(const std::string& name) {
  for (const Json& model : KerasModels()) {
    if (model["name"] == name) return model;
  }
  LOG(FATAL) << "no model " << name;
}

// The same as `ramp` in the script.
std::vector<double> Ramp(int64_t count, int64_t salt, double scale = 1) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    const auto step = static_cast<double>((i * 2741 + salt * 611) % 9973);
    values.push_back(static_cast<float>((step / 4986.5 - 1) * scale));
  }
  return values;
}

void ExpectNear(const std::vector<double>& actual,
                const std::vector<double>& expected, const std::string& what) {
  // Relative to the largest element; Keras computes in float32.
  constexpr double kTolerance = 2e-5;
  ASSERT_EQ(actual.size(), expected.size()) << what;
  // A lower bound, since rounding errors remain where terms cancel out: up to
  // one of float32 near 1, in whichever order a processor adds.
  double largest = 5e-3;
  for (const double each : expected)
    largest = std::max(largest, std::abs(each));
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], kTolerance * largest)
        << what << ", element " << i;
  }
}

class KerasTest : public ::testing::TestWithParam<
                      std::tuple<DeviceUnderTest, std::string>> {
 protected:
  KerasTest()
      : under_test_(std::get<0>(GetParam())),
        expected_(ModelNamed(std::get<1>(GetParam()))),
        model_({.layers = ValueFromJson(expected_["layers"]),
                .loss = ValueFromJson(expected_["loss"]),
                .metrics = ValueFromJson(expected_["metrics"]),
                .class_weight = expected_.value(
                    "class_weight", std::map<std::string, double>()),
                .has_sample_weights = expected_.contains("sample_weight")}),
        device_(under_test_.make()),
        on_device_(model_, *device_) {
    const double scale = expected_["scale"];
    std::vector<std::vector<double>> variables;
    for (const VariableSpec& variable : model_.graph().variables) {
      const auto salt = static_cast<int64_t>(10 + variables.size());
      std::vector<double>& values = variables.emplace_back(
          Ramp(NumElements(variable.shape), salt, scale));
      if (variable.is_trained()) continue;
      for (double& value : values) {
        value = static_cast<float>(value * value) + 0.25F;
      }
    }
    on_device_.SetVariables(variables);
    examples_.count = expected_["batch"];
    examples_.features = {
        Features(examples_.count * NumElements(model_.graph().input_shape(0)))};
    examples_.labels = {expected_["labels"].get<std::vector<double>>()};
    if (expected_.contains("sample_weight")) {
      examples_.weights = {
          expected_["sample_weight"].get<std::vector<double>>()};
    }
    examples_.loss_divisor = static_cast<double>(examples_.count);
  }

  // The same as `features` in the script.
  std::vector<double> Features(int64_t count) const {
    const int64_t ids = FeatureIdCount(model_.graph(), 0);
    if (ids == 0) return Ramp(count, 1);
    std::vector<double> features;
    for (int64_t i = 0; i < count; ++i) {
      features.push_back(static_cast<double>((7 * i + 3) % ids));
    }
    return features;
  }

  void SetUp() override {
    const absl::Status status = device_->Supports(model_.Spec(Mode::kTrain, 1));
    ASSERT_TRUE(status.ok()) << status;
  }

  const DeviceUnderTest under_test_;
  const Json& expected_;
  const ModelUnderTest model_;
  const std::unique_ptr<Device> device_;
  ModelOnDevice on_device_;
  Examples examples_;
};

TEST_P(KerasTest, OutputLossAndMetricsAgree) {
  const StepResult result = on_device_.Evaluate(examples_);
  ExpectNear(result.outputs[0], expected_["output"], "output");
  const ProgramSpec spec = model_.Spec(Mode::kEvaluate, examples_.count);
  const std::vector<double>& states = result.sums.states;
  std::map<std::string, double> logs = {{"loss", states[0] / states[1]}};
  const auto& metrics = spec.outputs[0].metrics;
  const MetricLayout layout(spec.outputs);
  for (size_t i = 0; i < metrics.size(); ++i) {
    logs[metrics[i]->name] = metrics[i]->Result(
        absl::MakeConstSpan(states).subspan(layout.offset(i)));
  }
  const std::map<std::string, double> expected = expected_["logs"];
  ASSERT_EQ(logs.size(), expected.size());
  for (const auto& [name, value] : expected) {
    ASSERT_EQ(logs.count(name), 1u) << name;
    ExpectNear({logs[name]}, {value}, name);
  }
}

TEST_P(KerasTest, GradientsAgree) {
  const auto expected =
      expected_["gradients"].get<std::vector<std::vector<double>>>();
  if (expected.empty()) GTEST_SKIP() << "random in Keras";
  const StepResult result = on_device_.Train(examples_);
  ASSERT_EQ(result.gradients.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const VariableSpec& variable = model_.graph().variables[i];
    if (variable.update == VariableUpdate::kNone) {
      EXPECT_TRUE(result.gradients[i].empty()) << variable.name;
      continue;
    }
    ExpectNear(result.gradients[i], expected[i], variable.name);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , KerasTest,
    ::testing::Combine(::testing::ValuesIn(DevicesUnderTest()),
                       ::testing::ValuesIn(ModelNames())),
    [](const auto& info) {
      return absl::StrCat(std::get<0>(info.param).name, "_",
                          std::get<1>(info.param));
    });

// --- Several inputs and outputs

class KerasOutputsTest : public ::testing::TestWithParam<DeviceUnderTest> {};

TEST_P(KerasOutputsTest, OutputsLossMetricsAndGradientsAgree) {
  const Json& expected = KerasExpected()["several_outputs"];
  ModelConfig config = {.layers = ValueFromJson(expected["layers"])};
  for (const Json& output : expected["outputs"]) {
    config.outputs.push_back({.layer = output["layer"],
                              .loss = ValueFromJson(output["loss"]),
                              .weight = output["weight"],
                              .metrics = ValueFromJson(output["metrics"])});
  }
  const ModelUnderTest model(config);
  const std::unique_ptr<Device> device = GetParam().make();
  ModelOnDevice on_device(model, *device);
  std::vector<std::vector<double>> variables;
  for (const VariableSpec& variable : model.graph().variables) {
    const auto salt = static_cast<int64_t>(10 + variables.size());
    variables.push_back(Ramp(NumElements(variable.shape), salt));
  }
  on_device.SetVariables(variables);
  Examples examples;
  examples.count = expected["batch"];
  examples.loss_divisor = static_cast<double>(examples.count);
  for (size_t i = 0; i < model.graph().inputs.size(); ++i) {
    examples.features.push_back(
        Ramp(examples.count * NumElements(model.graph().input_shape(i)),
             static_cast<int64_t>(1 + i)));
  }
  examples.labels = expected["labels"].get<std::vector<std::vector<double>>>();

  const StepResult evaluated = on_device.Evaluate(examples);
  ASSERT_EQ(evaluated.outputs.size(), expected["predictions"].size());
  for (size_t i = 0; i < evaluated.outputs.size(); ++i) {
    ExpectNear(evaluated.outputs[i], expected["predictions"][i], "output");
  }
  std::vector<double> logs;
  const std::vector<double>& states = evaluated.sums.states;
  for (size_t i = 0; i < states.size(); i += 2) {
    logs.push_back(states[i] / states[i + 1]);
  }
  ExpectNear(logs, expected["logs"], "logs");
  const StepResult trained = on_device.Train(examples);
  ASSERT_EQ(trained.gradients.size(), expected["gradients"].size());
  for (size_t i = 0; i < trained.gradients.size(); ++i) {
    ExpectNear(trained.gradients[i], expected["gradients"][i],
               model.graph().variables[i].name);
  }
}

INSTANTIATE_TEST_SUITE_P(, KerasOutputsTest,
                         ::testing::ValuesIn(DevicesUnderTest()),
                         [](const auto& info) { return info.param.name; });

// --- Derivatives where they jump

class KerasBendsTest : public ::testing::TestWithParam<DeviceUnderTest> {};

// The Dense layer has a zero kernel, so the tested layer's input is the bias.
// The labels give the loss a slope of 1, so the bias's gradient is the
// derivative of the tested layer.
TEST_P(KerasBendsTest, DerivativesAgree) {
  for (const Json& each : KerasExpected()["bends"]) {
    SCOPED_TRACE(each["layer"].dump());
    const auto inputs = each["inputs"].get<std::vector<double>>();
    const auto count = static_cast<int64_t>(inputs.size());
    const ModelUnderTest model(
        {.layers = Value::List{
             Value::Map{{"Input", Value::Map{{"shape", Value::List{1}}}}},
             Value::Map{{"Dense", Value::Map{{"units", count}}}},
             ValueFromJson(each["layer"])}});
    const std::unique_ptr<Device> device = GetParam().make();
    ModelOnDevice on_device(model, *device);
    on_device.SetVariables({std::vector<double>(inputs.size()), inputs});
    Examples examples = {.count = 1,
                         .features = {{1}},
                         .labels = {std::vector<double>(inputs.size())}};
    // The loss is the mean of `count` squared errors: an error of count / 2 has
    // the slope 1.
    examples.labels = on_device.Evaluate(examples).outputs;
    for (double& label : examples.labels[0]) {
      label -= static_cast<double>(count) / 2;
    }
    ExpectNear(on_device.Train(examples).gradients[1],
               each["derivatives"].get<std::vector<double>>(), "derivatives");
  }
}

INSTANTIATE_TEST_SUITE_P(, KerasBendsTest,
                         ::testing::ValuesIn(DevicesUnderTest()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace paceline
