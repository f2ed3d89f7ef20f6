#include "worker/make_device.h"

#include <string>

#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/model_under_test.h"
#include "tests/machine.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

absl::StatusOr<std::unique_ptr<Device>> Make(
    const std::string& name, v1::Precision precision = v1::PRECISION_FLOAT32) {
  static const auto& model = *new ModelUnderTest(
      {.layers = *ReadYaml("[Input: {shape: [3]}, Dense: {units: 2}]", "model",
                           limits::kMaxJobBytes)});
  // As on a machine without a GPU.
  cuda::Libraries libraries;
  libraries.driver = "libpaceline_no_such_driver.so";
  v1::Job job;
  job.set_device(name);
  job.set_precision(precision);
  return MakeDevice(job, {}, model.graph(), libraries);
}

TEST(MakeDeviceTest, MakesWhatIsNamed) {
  EXPECT_EQ((*Make("cpu"))->name(), "cpu");
  EXPECT_EQ((*Make("reference"))->name(), "reference");
}

TEST(MakeDeviceTest, AutoTakesTheCpuWhereNoGpuIs) {
  EXPECT_EQ((*Make("auto"))->name(), "cpu");
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
