// What the device leaves to the GPU's libraries: calls on a fake.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "common/operations/matrix_product.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/fake_gpu.h"
#include "tests/conformance/model_under_test.h"
#include "tests/unit/device/composed_layer.h"
#include "worker/device/cuda/cuda_device.h"
#include "worker/device/cuda/limited_gpu.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kBatchSize = 2;

ModelUnderTest ModelOf(const std::string& layers,
                       Precision precision = Precision::kFloat32) {
  return ModelUnderTest({.layers = *ReadYaml(absl::StrCat("[", layers, "]"),
                                             "model", limits::kMaxJobBytes),
                         .precision = precision});
}

// As a model is compiled, and of its first step.
cuda::CallLog CallsOf(const std::string& layers, Mode mode = Mode::kTrain,
                      Precision precision = Precision::kFloat32) {
  const ModelUnderTest model = ModelOf(layers, precision);
  cuda::CallLog log;
  CudaDevice device(cuda::MakeFakeGpu({.log = &log}));
  ModelOnDevice on_device(model, device);
  log.clear();
  const Examples examples = model.SomeExamples(kBatchSize);
  if (mode == Mode::kTrain) {
    on_device.Train(examples);
  } else {
    on_device.Evaluate(examples);
  }
  return log;
}

int64_t CountOf(const cuda::CallLog& log, const std::string& call) {
  return std::count(log.begin(), log.end(), call);
}

TEST(LibraryCallsTest, ConvolutionsArePlannedAsAModelIsCompiled) {
  const cuda::CallLog calls = CallsOf(
      "Input: {shape: [6, 6, 1]}, Conv2D: {filters: 2, kernel_size: 3}, "
      "Conv2D: {filters: 4, kernel_size: 2, groups: 2}");
  // The forward and the kernel's gradient of both, the input's of the second.
  EXPECT_EQ(CountOf(calls, "plan"), 5);
  EXPECT_EQ(CountOf(calls, "queue 0: convolve"), 5);
  const auto first = std::find(calls.begin(), calls.end(), "queue 0: convolve");
  EXPECT_THAT(
      cuda::CallLog(first, calls.end()),
      AllOf(Not(Contains("plan")), Not(Contains(HasSubstr("allocate")))));
}

TEST(LibraryCallsTest, ConvolutionsOfSinglePixelsAreProducts) {
  const cuda::CallLog calls = CallsOf(
      "Input: {shape: [6, 6, 1]}, Conv2D: {filters: 2, kernel_size: 1}");
  EXPECT_THAT(calls, Not(Contains("plan")));
  EXPECT_EQ(CountOf(calls, "queue 0: multiply"), 2);
}

TEST(LibraryCallsTest, ABatchOfProductsIsSupported) {
  EXPECT_EQ(SupportsComposed(
                CudaDevice(cuda::MakeFakeGpu()), {2, 2},
                [](const op::Tensor& x) { return op::MatrixProduct(x, x); }),
            absl::OkStatus());
}

TEST(LibraryCallsTest, TheBiasOfADenseLayerTakesNoKernel) {
  const auto kernels_of = [](const std::string& settings) {
    return CountOf(CallsOf(absl::StrCat("Input: {shape: [3]}, Dense: {units: 2",
                                        settings, "}")),
                   "queue 0: kernel");
  };
  EXPECT_EQ(kernels_of(""), kernels_of(", use_bias: false"));
}

// cuBLASLt sums up neither 16 bits nor to an address that it is not told of.
TEST(LibraryCallsTest, TheGradientOfABiasIsAKernelElsewhere) {
  const auto kernels_of_bias = [](int units, Precision precision) {
    const auto kernels_of = [&](const std::string& settings) {
      return CountOf(
          CallsOf(absl::StrCat("Input: {shape: [3]}, Dense: {units: ", units,
                               settings, "}, Dense: {units: 1}"),
                  Mode::kTrain, precision),
          "queue 0: kernel");
    };
    return kernels_of("") - kernels_of(", use_bias: false");
  };
  // The bias lies behind 4 and behind 3 floats.
  EXPECT_EQ(kernels_of_bias(3, Precision::kFloat32), 0);
  EXPECT_EQ(kernels_of_bias(2, Precision::kFloat32), 1);
  // A copy of the bias in the product's type, and the sums.
  EXPECT_EQ(kernels_of_bias(3, Precision::kMixedBFloat16), 2);
}

TEST(LibraryCallsTest, BiasAndRectifierOfAConvolutionTakeNoKernel) {
  const auto kernels_of = [](const std::string& settings) {
    return CountOf(CallsOf(absl::StrCat("Input: {shape: [6, 6, 1]}, Conv2D: "
                                        "{filters: 2, kernel_size: 3, ",
                                        settings, "}"),
                           Mode::kEvaluate),
                   "queue 0: kernel");
  };
  const int64_t least = kernels_of("use_bias: false");
  EXPECT_EQ(kernels_of("use_bias: true"), least);
  EXPECT_EQ(kernels_of("activation: relu"), least);
  EXPECT_EQ(kernels_of("activation: tanh"), least + 1);
}

TEST(LibraryCallsTest, AnErrorOfPlanningNamesTheLayer) {
  const ModelUnderTest model = ModelOf(
      "Input: {shape: [6, 6, 1]}, Conv2D: {name: it, filters: 2, kernel_size: "
      "3}");
  CudaDevice device(cuda::MakeFakeGpu({.fault = [](const std::string& call) {
    return call == "plan" ? absl::UnimplementedError("no engine")
                          : absl::OkStatus();
  }}));
  const ProgramSpec spec = model.Spec(Mode::kTrain, kBatchSize);
  const auto state = *device.CreateState(spec);
  const absl::Status status = device.Compile(spec, *state).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(), "layer it: no engine");
}

TEST(LibraryCallsTest, AMemoryLimitEndsInAnErrorThatNamesIt) {
  const ModelUnderTest model =
      ModelOf("Input: {shape: [1000]}, Dense: {units: 1000}");
  CudaDevice device(cuda::LimitMemory(cuda::MakeFakeGpu(), 5'000'000));
  const absl::Status status =
      device.CreateState(model.Spec(Mode::kTrain, kBatchSize)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("device_memory_limit"));
}

}  // namespace
}  // namespace paceline
