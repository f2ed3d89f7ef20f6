// Divergence must show in the loss: NaN in an example or a variable makes the
// outputs that depend on it and the loss NaN. This holds on every device and
// for every activation, whether it is a layer of its own, a part of another
// layer, or fused into the pooling after it.
#include <cmath>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/config/codec.h"
#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "common/model/activation.h"
#include "glog/logging.h"
#include "gtest/gtest.h"
#include "tests/conformance/devices.h"
#include "tests/conformance/fixture.h"
#include "tests/conformance/model_under_test.h"

namespace paceline {
namespace {

Value Parsed(const std::string& text) {
  const auto value = ReadYaml(text, "model", limits::kMaxJobBytes);
  CHECK(value.ok()) << value.status();
  return *value;
}

// A model of `layers` on images of 6 × 6 pixels with 2 channels. `activation`
// replaces ACTIVATION in `layers`.
ModelConfig ImageModel(const std::string& layers,
                       const std::string& activation) {
  return {.layers = Parsed(absl::StrCat(
              "[Input: {shape: [6, 6, 2]}, ",
              absl::StrReplaceAll(layers, {{"ACTIVATION", activation}}), "]"))};
}

// Where the NaN is.
enum class NanIn { kFeature, kVariable };

Examples ExamplesWithNan(Fixture& fixture, NanIn nan_in) {
  Examples examples = fixture.model.SomeExamples(3);
  if (nan_in == NanIn::kFeature) {
    examples.features[0][29] = std::nan("");
  } else {
    auto variables = fixture.model.SomeVariables();
    variables[0][1] = std::nan("");
    fixture.on_device.SetVariables(variables);
  }
  return examples;
}

// Which outputs are NaN; the loss must be, in evaluation and in training.
std::vector<bool> NanOutputs(const DeviceUnderTest& device,
                             const ModelConfig& config, NanIn nan_in) {
  Fixture fixture(device, config);
  const Examples examples = ExamplesWithNan(fixture, nan_in);
  const StepResult evaluated = fixture.on_device.Evaluate(examples);
  EXPECT_TRUE(std::isnan(evaluated.sums.states[0]));
  EXPECT_TRUE(std::isnan(fixture.on_device.Train(examples).sums.states[0]));
  std::vector<bool> are_nan;
  for (const double each : evaluated.outputs[0]) {
    are_nan.push_back(std::isnan(each));
  }
  return are_nan;
}

// The same model without activation tells which outputs depend on what is NaN.
void ExpectNanPasses(const DeviceUnderTest& device, const std::string& layers,
                     const std::string& activation,
                     Precision precision = Precision::kFloat32) {
  for (const NanIn nan_in : {NanIn::kFeature, NanIn::kVariable}) {
    SCOPED_TRACE(absl::StrCat(layers, nan_in == NanIn::kFeature
                                          ? ", in a feature"
                                          : ", in a kernel"));
    const std::vector<bool> depends =
        NanOutputs(Float64Reference(), ImageModel(layers, "linear"), nan_in);
    ModelConfig config = ImageModel(layers, activation);
    config.precision = precision;
    const std::vector<bool> actual = NanOutputs(device, config, nan_in);
    ASSERT_EQ(actual.size(), depends.size());
    int count = 0;
    for (size_t i = 0; i < depends.size(); ++i) {
      if (!depends[i]) continue;
      ++count;
      EXPECT_TRUE(actual[i]) << "output " << i;
    }
    EXPECT_GT(count, 0);
  }
}

// --- Every activation

std::vector<std::string> ActivationNames() {
  std::set<std::string> names;
  for (const auto& each : EnumNames(ActivationFunction())) {
    names.emplace(ActivationFunctionName(each.value));
  }
  return {names.begin(), names.end()};
}

class NanActivationTest : public ::testing::TestWithParam<
                              std::tuple<DeviceUnderTest, std::string>> {};

TEST_P(NanActivationTest, PassesNanOn) {
  const auto& [device, activation] = GetParam();
  for (const std::string layers :
       {"Activation: {activation: ACTIVATION}, Dense: {units: 2}",
        "Dense: {units: 3, activation: ACTIVATION}",
        "Conv2D: {filters: 5, kernel_size: 3, activation: ACTIVATION}",
        "DepthwiseConv2D: {kernel_size: 2, activation: ACTIVATION}",
        "SeparableConv2D: {filters: 3, kernel_size: 3, activation: ACTIVATION}",
        "Conv2D: {filters: 5, kernel_size: 3, activation: ACTIVATION}, "
        "MaxPooling2D: {}"}) {
    ExpectNanPasses(device, layers, activation);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , NanActivationTest,
    ::testing::Combine(::testing::ValuesIn(DevicesUnderTest()),
                       ::testing::ValuesIn(ActivationNames())),
    [](const auto& info) {
      return absl::StrCat(std::get<0>(info.param).name, "_",
                          std::get<1>(info.param));
    });

// --- Every way to compute a rectifier

class NanTest : public ::testing::TestWithParam<DeviceUnderTest> {};

const std::vector<std::string>& RectifiedLayers() {
  static const auto& layers = *new std::vector<std::string>{
      "Dense: {units: 3, activation: ACTIVATION}",
      "Dense: {units: 64, activation: ACTIVATION}",
      "Conv2D: {filters: 2, kernel_size: 1, activation: ACTIVATION}",
      "Conv2D: {filters: 5, kernel_size: 3, padding: same, activation: "
      "ACTIVATION}",
      // Libraries choose other algorithms for this many channels.
      "Conv2D: {filters: 64, kernel_size: 1}, Conv2D: {filters: 64, "
      "kernel_size: 3, padding: same, activation: ACTIVATION}",
      "Conv2D: {filters: 4, kernel_size: 2, groups: 2, activation: ACTIVATION}",
      "DepthwiseConv2D: {kernel_size: 2, activation: ACTIVATION}",
      "DepthwiseConv2D: {kernel_size: 3, depth_multiplier: 8, padding: same, "
      "activation: ACTIVATION}",
      "SeparableConv2D: {filters: 3, kernel_size: 3, activation: ACTIVATION}",
      "Conv2D: {filters: 3, kernel_size: 1}, Activation: {activation: "
      "ACTIVATION}",
      "Conv2D: {filters: 3, kernel_size: 1}, BatchNormalization: {trainable: "
      "false}, Activation: {activation: ACTIVATION}"};
  return layers;
}

TEST_P(NanTest, PassesRectifiers) {
  for (const std::string& layers : RectifiedLayers()) {
    for (const std::string behind : {"", ", Dense: {units: 2}"}) {
      ExpectNanPasses(GetParam(), layers + behind, "relu");
    }
  }
}

TEST_P(NanTest, PassesRectifiersBehindFactorsOfBFloat16) {
  if (!GetParam().make()->CanCompute(Precision::kMixedBFloat16)) {
    GTEST_SKIP() << "the device has no mixed_bfloat16 here";
  }
  for (const std::string& layers : RectifiedLayers()) {
    for (const std::string behind :
         {", Dense: {units: 2}", ", MaxPooling2D: {}"}) {
      ExpectNanPasses(GetParam(), layers + behind, "relu",
                      Precision::kMixedBFloat16);
    }
  }
}

TEST_P(NanTest, PassesThePoolingBehindARectifier) {
  for (const std::string pooling :
       {"MaxPooling2D: {}",
        "MaxPooling2D: {pool_size: 3, strides: 1, padding: same}",
        "AveragePooling2D: {}", "GlobalAveragePooling2D: {}"}) {
    for (const std::string& layers : RectifiedLayers()) {
      ExpectNanPasses(GetParam(), absl::StrCat(layers, ", ", pooling), "relu");
    }
  }
}

// Puts the NaN at each position of a window.
TEST_P(NanTest, PassesMaxPooling) {
  for (const std::string pooling :
       {"MaxPooling2D: {}",
        "MaxPooling2D: {pool_size: 3, strides: 2, padding: same}"}) {
    SCOPED_TRACE(pooling);
    const auto model = [](const std::string& name) {
      return ImageModel(
          absl::StrCat("Conv2D: {filters: 1, kernel_size: 1}, ", name), "");
    };
    Fixture actual(GetParam(), model(pooling));
    // Average pooling sums the same windows, so its NaNs are where NaNs are
    // expected.
    Fixture sums(Float64Reference(),
                 model(absl::StrCat("Average", pooling.substr(3))));
    for (size_t i = 0; i < 72; ++i) {
      Examples examples = actual.model.SomeExamples(1);
      examples.features[0][i] = std::nan("");
      const auto output = actual.on_device.Evaluate(examples).outputs[0];
      const auto expected = sums.on_device.Evaluate(examples).outputs[0];
      ASSERT_EQ(output.size(), expected.size());
      for (size_t o = 0; o < output.size(); ++o) {
        EXPECT_EQ(std::isnan(output[o]), std::isnan(expected[o]))
            << "feature " << i << ", output " << o;
      }
    }
  }
}

TEST_P(NanTest, ReachesEveryLoss) {
  for (const std::string last : {"linear", "softmax", "sigmoid"}) {
    for (const std::string loss :
         {"mse", "bce", "categorical_crossentropy",
          "sparse_categorical_crossentropy",
          "{BinaryCrossentropy: {from_logits: true}}",
          "{CategoricalCrossentropy: {from_logits: true}}",
          "{SparseCategoricalCrossentropy: {from_logits: true}}"}) {
      // With Flatten in between, the loss reads probabilities instead of
      // logits.
      for (const std::string behind : {"", ", Flatten: {}"}) {
        SCOPED_TRACE(absl::StrCat(loss, " of ", last, behind));
        ModelConfig config = ImageModel(
            absl::StrCat("Flatten: {}, Dense: {units: 3, activation: "
                         "ACTIVATION}",
                         behind),
            last);
        config.loss = Parsed(loss);
        NanOutputs(GetParam(), config, NanIn::kFeature);
        NanOutputs(GetParam(), config, NanIn::kVariable);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, NanTest, ::testing::ValuesIn(DevicesUnderTest()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace paceline
