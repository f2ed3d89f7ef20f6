// Devices that compute in 16 bits are near the reference in float64, and do
// compute in 16 bits.
#include <algorithm>
#include <cmath>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/cases/lists.h"
#include "tests/conformance/devices.h"
#include "tests/conformance/fixture.h"
#include "tests/conformance/model_under_test.h"
#include "tests/machine.h"
#include "worker/device/device.h"

namespace paceline {
namespace {

// A mixed precision that a device supports.
struct MixedPrecision {
  const DeviceUnderTest* device = nullptr;
  Precision precision = Precision::kFloat32;
  std::string name;
  // Numbers have 8 or 11 bits, and a few layers round one after the other.
  double tolerance = 0;
};

void PrintTo(const MixedPrecision& mixed, std::ostream* stream) {
  *stream << mixed.name;
}

double NormOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

// Compares norms: where rounding moves an input across the kink of an
// activation, single elements differ. `whole` is the norm of the vector of
// which this is a part.
void ExpectNormsNear(std::vector<double> actual,
                     const std::vector<double>& expected, double tolerance,
                     double whole, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i) actual[i] -= expected[i];
  const double norm = NormOf(expected);
  EXPECT_LE(NormOf(actual), tolerance * (norm + 0.1 * whole + 1e-3))
      << what << ", whose norm is " << norm;
}

std::vector<MixedPrecision> MixedPrecisions() {
  std::vector<MixedPrecision> found;
  for (const DeviceUnderTest& each : DevicesUnderTest()) {
    const std::unique_ptr<Device> device = each.make();
    for (const auto& [precision, name, tolerance] :
         {std::tuple(Precision::kMixedBFloat16, "bfloat16", 0.06),
          std::tuple(Precision::kMixedFloat16, "float16", 0.008)}) {
      if (!device->CanCompute(precision)) continue;
      found.push_back(
          {&each, precision, absl::StrCat(each.name, "_", name), tolerance});
    }
  }
  return found;
}

// Whether the gradient of a variable is zero, as after an overflow.
bool HasZeroGradient(const StepResult& result) {
  return std::any_of(result.gradients.begin(), result.gradients.end(),
                     [](const std::vector<double>& gradient) {
                       return !gradient.empty() && NormOf(gradient) == 0;
                     });
}

// Trains until the loss scale is so small that no gradient overflows.
StepResult TrainWithinScale(ModelOnDevice& on_device,
                            const Examples& examples) {
  StepResult result = on_device.Train(examples);
  for (int step = 0; step < 15 && HasZeroGradient(result); ++step) {
    result = on_device.Train(examples);
  }
  return result;
}

// Why a case cannot be compared in this precision; "": it can.
std::string WhyNotComparable(Precision precision, const std::string& name) {
  if (precision == Precision::kMixedFloat16) {
    return name == "activation_exponential" ? "its gradients are beyond float16"
                                            : "";
  }
  const std::set<std::string> kinked = {"rectified_ceiling", "rectified_slope",
                                        "rectified_twice",
                                        "activation_hard_tanh"};
  return kinked.contains(name) ? "bfloat16 takes inputs over its kinks" : "";
}

bool IsAmongThem(const std::string& name) {
  const std::vector<MixedPrecision> found = MixedPrecisions();
  return std::any_of(
      found.begin(), found.end(),
      [&](const MixedPrecision& each) { return each.name == name; });
}

TEST(MixedPrecisionsTest, TheFakeGpuIsAmongThem) {
  EXPECT_TRUE(IsAmongThem("cuda_on_fake_bfloat16"));
  EXPECT_TRUE(IsAmongThem("cuda_on_fake_float16"));
}

TEST(MixedPrecisionsTest, TheCpuIsAmongThem) {
  EXPECT_EQ(IsAmongThem("cpu_bfloat16"), ProcessorHasBFloat16());
  if (!ProcessorHasBFloat16()) {
    GTEST_SKIP() << "no case runs on the CPU, of " << Cases().size()
                 << ": it has neither AVX512-BF16 nor AMX";
  }
}

class MixedPrecisionTest
    : public ::testing::TestWithParam<std::tuple<MixedPrecision, Case>> {};

TEST_P(MixedPrecisionTest, IsNearTheReference) {
  const auto& [mixed, each] = GetParam();
  if (const std::string why = WhyNotComparable(mixed.precision, each.name);
      !why.empty()) {
    GTEST_SKIP() << why;
  }
  ModelConfig config = each.config;
  Fixture expected(Float64Reference(), config);
  config.precision = mixed.precision;
  Fixture actual(*mixed.device, config);
  const Examples examples = actual.model.SomeExamples(5);
  const StepResult ours = TrainWithinScale(actual.on_device, examples);
  const StepResult exact = expected.on_device.Train(examples);
  double whole = 0;
  for (const auto& gradient : exact.gradients) {
    whole = std::hypot(whole, NormOf(gradient));
  }
  for (size_t i = 0; i < exact.gradients.size(); ++i) {
    ExpectNormsNear(
        ours.gradients[i], exact.gradients[i], mixed.tolerance, whole,
        absl::StrCat("gradient of ", actual.model.graph().variables[i].name));
  }
  ExpectNormsNear(ours.sums.states, exact.sums.states, mixed.tolerance, 0,
                  "states");
  ExpectNormsNear(actual.on_device.Evaluate(examples).outputs[0],
                  expected.on_device.Evaluate(examples).outputs[0],
                  mixed.tolerance, 0, "output");
}

INSTANTIATE_TEST_SUITE_P(
    , MixedPrecisionTest,
    ::testing::Combine(::testing::ValuesIn(MixedPrecisions()),
                       ::testing::ValuesIn(Cases())),
    [](const auto& info) {
      return absl::StrCat(std::get<0>(info.param).name, "_",
                          std::get<1>(info.param).name);
    });

// --- Products, whose factors have 16 bits

// The tested product is not in the last layer, which is float32 in all
// precisions.
std::vector<Case> Products() {
  const auto before_the_last = [](const char* name, const char* layers) {
    return Layers(name, absl::StrCat("[Input: {shape: [8, 7, 6]}, ", layers,
                                     ", Flatten: {}, Dense: {units: 3}]"));
  };
  return {
      before_the_last("dense", "Flatten: {}, Dense: {units: 9}"),
      before_the_last("convolution", "Conv2D: {filters: 4, kernel_size: 3}"),
      before_the_last("pointwise", "Conv2D: {filters: 4, kernel_size: 1}"),
      before_the_last("groups",
                      "Conv2D: {filters: 4, kernel_size: 3, groups: 2}")};
}

// Expects the results to differ by more than float32 results do.
void ExpectRounded(std::vector<double> rounded,
                   const std::vector<double>& float32, double tolerance) {
  ASSERT_EQ(rounded.size(), float32.size());
  for (size_t i = 0; i < rounded.size(); ++i) rounded[i] -= float32[i];
  EXPECT_GT(NormOf(rounded), tolerance * NormOf(float32));
}

class ProductTest
    : public ::testing::TestWithParam<std::tuple<MixedPrecision, Case>> {};

// A device that claims to compute in 16 bits, but does not, would be even
// nearer to the reference. So this test also expects rounding errors.
TEST_P(ProductTest, IsOf16Bits) {
  const auto& [mixed, each] = GetParam();
  ModelConfig config = each.config;
  Fixture float32(*mixed.device, config);
  config.precision = mixed.precision;
  Fixture rounded(*mixed.device, config);
  Examples examples = rounded.model.SomeExamples(5);
  ExpectRounded(rounded.on_device.Evaluate(examples).outputs[0],
                float32.on_device.Evaluate(examples).outputs[0],
                mixed.device->tolerance);
  // The labels are so far from the outputs that rounding of the outputs hardly
  // changes the loss's gradient: differences come from backward.
  for (double& label : examples.labels[0]) label += 1000;
  ExpectRounded(TrainWithinScale(rounded.on_device, examples).gradients.front(),
                float32.on_device.Train(examples).gradients.front(),
                mixed.device->tolerance);
}

INSTANTIATE_TEST_SUITE_P(
    , ProductTest,
    ::testing::Combine(::testing::ValuesIn(MixedPrecisions()),
                       ::testing::ValuesIn(Products())),
    [](const auto& info) {
      return absl::StrCat(std::get<0>(info.param).name, "_",
                          std::get<1>(info.param).name);
    });

}  // namespace
}  // namespace paceline
