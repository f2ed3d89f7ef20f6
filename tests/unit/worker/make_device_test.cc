#include "worker/setup/make_device.h"

#include <memory>
#include <string>
#include <vector>

#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/fake_gpu.h"
#include "tests/conformance/model_under_test.h"
#include "tests/machine.h"
#include "tests/unit/device/replicated_labels.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const ModelUnderTest& Model() {
  static const auto& model = *new ModelUnderTest(
      {.layers = *ReadYaml("[Input: {shape: [3]}, Dense: {units: 2}]", "model",
                           limits::kMaxJobBytes)});
  return model;
}

// On a machine without a GPU.
absl::StatusOr<std::unique_ptr<Device>> Make(
    const std::string& name, v1::Precision precision = v1::PRECISION_FLOAT32) {
  v1::Job job;
  job.set_device(name);
  job.set_precision(precision);
  return MakeDevice(job, {}, Model().Spec(Mode::kTrain, 1), [] {
    return cuda::LoadDriver({.driver = "libpaceline_no_such_driver.so"});
  });
}

// Of a machine with one GPU.
class FakeDriver final : public cuda::Driver {
 public:
  cuda::DriverReport Report() const override {
    return {.driver_version = 1, .gpu_count = 1};
  }
  absl::StatusOr<std::unique_ptr<cuda::Gpu>> Open(
      int /*ordinal*/, const cuda::GpuOptions& /*options*/) override {
    return cuda::MakeFakeGpu();
  }
};

absl::StatusOr<std::unique_ptr<Device>> MakeBesideGpu(const std::string& name,
                                                      const ProgramSpec& spec) {
  v1::Job job;
  job.set_device(name);
  return MakeDevice(job, {}, spec,
                    [] { return std::make_unique<FakeDriver>(); });
}

TEST(MakeDeviceTest, MakesWhatIsNamed) {
  EXPECT_EQ((*Make("cpu"))->name(), "cpu");
  EXPECT_EQ((*Make("reference"))->name(), "reference");
}

TEST(MakeDeviceTest, AutoTakesTheCpuWhereNoGpuIs) {
  EXPECT_EQ((*Make("auto"))->name(), "cpu");
}

TEST(MakeDeviceTest, AutoTakesTheCpuWhereTheGpuLacksAnOperationOfTheLoss) {
  ProgramSpec spec = Model().Spec(Mode::kTrain, 1);
  EXPECT_EQ((*MakeBesideGpu("auto", spec))->name(), "cuda:fake");
  const ReplicatedLoss loss;
  spec.outputs[0].loss = &loss;
  EXPECT_EQ((*MakeBesideGpu("auto", spec))->name(), "cpu");
  EXPECT_EQ(
      MakeBesideGpu("cuda", spec).status(),
      absl::UnimplementedError("device: cuda: loss ReplicatedLoss: the "
                               "cuda device has no operation SumOverReplicas"));
}

TEST(MakeDeviceTest, AutoTakesTheCpuWhereTheGpuLacksAnOperationOfAMetric) {
  std::vector<std::unique_ptr<const Metric>> metrics;
  metrics.push_back(std::make_unique<ReplicatedAccuracy>());
  ProgramSpec spec = Model().Spec(Mode::kTrain, 1);
  spec.outputs[0].metrics = metrics;
  EXPECT_EQ((*MakeBesideGpu("auto", spec))->name(), "cpu");
  EXPECT_EQ(MakeBesideGpu("cuda", spec).status(),
            absl::UnimplementedError(
                "device: cuda: metric accuracy (ReplicatedAccuracy): the cuda "
                "device has no operation SumOverReplicas"));
}

TEST(MakeDeviceTest, ACpuHasBfloat16OrSaysWhatItNeeds) {
  const auto device = Make("cpu", v1::PRECISION_MIXED_BFLOAT16);
  if (ProcessorHasBFloat16()) {
    EXPECT_TRUE(device.ok()) << device.status();
  } else {
    EXPECT_EQ(device.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(device.status().message()),
                StartsWith("device: cpu: precision: mixed_bfloat16 needs"));
  }
}

TEST(MakeDeviceTest, WhatAutoTakesComputesInWhatItHas) {
  v1::Job job;
  job.set_precision(v1::PRECISION_MIXED_FLOAT16);
  const auto device = Make("auto", job.precision());
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ(PrecisionOf(job, **device), Precision::kFloat32);
}

TEST(MakeDeviceTest, CudaRefusesWhereNoGpuIs) {
  for (const std::string name : {"cuda", "cuda:1"}) {
    const absl::Status status = Make(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()),
                StartsWith("device: " + name + ": no NVIDIA driver"));
  }
}

TEST(MakeDeviceTest, AGpuGetsWhatTheJobAsks) {
  const cuda::CudaOptions defaults = CudaOptionsOf(v1::Job());
  EXPECT_EQ(defaults.gpu.math_mode, cuda::MathMode::kFloat32);
  EXPECT_FALSE(defaults.gpu.deterministic);
  EXPECT_FALSE(defaults.gpu.autotune);
  EXPECT_EQ(defaults.memory_limit_bytes, 0);
  v1::Job job;
  job.set_precision(v1::PRECISION_TF32);
  job.set_deterministic(true);
  job.set_autotune(true);
  job.set_device_memory_limit(1'000'000);
  const cuda::CudaOptions options = CudaOptionsOf(job);
  EXPECT_EQ(options.gpu.math_mode, cuda::MathMode::kTf32);
  EXPECT_TRUE(options.gpu.deterministic);
  EXPECT_TRUE(options.gpu.autotune);
  EXPECT_EQ(options.memory_limit_bytes, 1'000'000);
}

TEST(MakeDeviceTest, RefusesOtherNames) {
  for (const std::string name :
       {"gpu", "cuda:", "cuda:-1", "cuda: 1", "cuda:1x", "cuda:99999999999"}) {
    const absl::Status status = Make(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("expected auto, cpu, reference, cuda or cuda:N"));
  }
}

}  // namespace
}  // namespace paceline
