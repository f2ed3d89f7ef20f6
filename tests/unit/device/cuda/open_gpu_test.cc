// What is refused before a GPU is used.
#include "worker/device/cuda/open_gpu.h"

#include <dlfcn.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/fake_gpu.h"
#include "worker/device/cuda/limited_gpu.h"
#include "worker/device/cuda/out_of_memory.h"

namespace paceline::cuda {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class ReportingDriver final : public Driver {
 public:
  explicit ReportingDriver(DriverReport report) : report_(report) {}
  DriverReport Report() const override { return report_; }
  absl::StatusOr<std::unique_ptr<Gpu>> Open(
      int /*ordinal*/, const GpuOptions& options) override {
    options_ = options;
    return MakeFakeGpu();
  }

  // That the GPU was opened with.
  const GpuOptions& options() const { return options_; }

 private:
  const DriverReport report_;
  GpuOptions options_;
};

absl::Status Open(int driver_version, int gpu_count, int ordinal) {
  ReportingDriver driver({.driver_version = driver_version,
                          .runtime_version = 13010,
                          .needed_version = 13000,
                          .gpu_count = gpu_count});
  return OpenGpu(driver, ordinal, {}).status();
}

void ExpectError(const absl::Status& status, absl::StatusCode code,
                 const std::string& message) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(message));
}

TEST(OpenGpuTest, OpensWhatIsThere) {
  EXPECT_TRUE(Open(13000, 1, 0).ok());
  EXPECT_TRUE(Open(14020, 4, 3).ok());
}

TEST(OpenGpuTest, ReplicasTakeGpusInTurn) {
  EXPECT_EQ(OrdinalOf(0, 3, 4), 3);
  EXPECT_EQ(OrdinalOf(1, 0, 3), 1);
  EXPECT_EQ(OrdinalOf(1, 1, 3), 2);
  EXPECT_EQ(OrdinalOf(1, 2, 3), 1);
  // Which is then refused.
  EXPECT_EQ(OrdinalOf(2, 1, 2), 2);
}

TEST(OpenGpuTest, SaysWhatIsMissing) {
  ExpectError(Open(0, 0, 0), absl::StatusCode::kFailedPrecondition,
              "no NVIDIA driver");
  ExpectError(Open(12080, 1, 0), absl::StatusCode::kFailedPrecondition,
              "for CUDA 12.8 at most, needed is 13.0");
  ExpectError(Open(13000, 0, 0), absl::StatusCode::kNotFound, "no NVIDIA GPU");
  ExpectError(Open(13000, 2, 2), absl::StatusCode::kNotFound,
              "no GPU cuda:2; this machine has 2");
}

TEST(OpenGpuTest, SaysWhichLibraryIsMissing) {
  Libraries libraries;
  libraries.driver = "libpaceline_no_such_driver.so";
  ExpectError(LoadDriver(libraries).status(),
              absl::StatusCode::kFailedPrecondition,
              "no NVIDIA driver on this machine");
  libraries.driver = "libc.so.6";
  libraries.plugin = "libpaceline_no_such_plugin.so";
  ExpectError(LoadDriver(libraries).status(),
              absl::StatusCode::kFailedPrecondition,
              "no CUDA plug-in beside the program");
  libraries.plugin = "libc.so.6";
  ExpectError(LoadDriver(libraries).status(),
              absl::StatusCode::kFailedPrecondition, "of another version");
}

// The plug-in resolves all its symbols, and reports, with a driver or without.
TEST(OpenGpuTest, ThePluginLoads) {
  if (!PACELINE_HAS_CUDA_PLUGIN) GTEST_SKIP() << "this build has none";
  Libraries libraries;
  libraries.driver = "libc.so.6";
  const absl::StatusOr<std::unique_ptr<Driver>> driver = LoadDriver(libraries);
  ASSERT_TRUE(driver.ok()) << driver.status();
  const DriverReport report = (*driver)->Report();
  EXPECT_GE(report.runtime_version, report.needed_version);
  EXPECT_GT(report.needed_version, 0);
  // Whether it lacks the driver, or a GPU of that number.
  EXPECT_THAT(OpenGpu(**driver, report.gpu_count, {}).status().code(),
              AnyOf(absl::StatusCode::kFailedPrecondition,
                    absl::StatusCode::kNotFound));
  // Not every machine with a GPU has it.
  EXPECT_EQ(dlopen("libnccl.so.2", RTLD_LAZY | RTLD_NOLOAD), nullptr);
}

// Built for this: it needs a library that is not there.
TEST(OpenGpuTest, NamesTheLibraryThatThePluginLacks) {
  Libraries libraries;
  libraries.driver = "libc.so.6";
  libraries.plugin = PACELINE_INCOMPLETE_PLUGIN;
  ExpectError(LoadDriver(libraries).status(),
              absl::StatusCode::kFailedPrecondition,
              "the CUDA plug-in lacks a library: libpaceline_absent.so: ");
}

TEST(OpenGpuTest, PassesOptionsOn) {
  ReportingDriver driver(
      {.driver_version = 13000, .needed_version = 13000, .gpu_count = 1});
  CudaOptions options;
  options.gpu = {.math_mode = MathMode::kTf32, .deterministic = true};
  options.memory_limit_bytes = 100;
  const absl::StatusOr<std::unique_ptr<Gpu>> gpu = OpenGpu(driver, 0, options);
  EXPECT_EQ(driver.options().math_mode, MathMode::kTf32);
  EXPECT_TRUE(driver.options().deterministic);
  EXPECT_FALSE(driver.options().autotune);
  EXPECT_EQ((*gpu)->Allocate(101, "it").status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE((*OpenGpu(driver, 0, {}))->Allocate(101, "it").ok());
}

TEST(LimitMemoryTest, CountsWhatIsInUse) {
  const std::unique_ptr<Gpu> gpu = LimitMemory(MakeFakeGpu(), 8 << 20);
  absl::StatusOr<MemoryBlock> block = gpu->Allocate(5 << 20, "the variables");
  ASSERT_TRUE(block.ok());
  ExpectError(gpu->Allocate(4 << 20, "the gradients").status(),
              absl::StatusCode::kResourceExhausted,
              "4 MiB asked for the gradients, 3 MiB free of 8 MiB of "
              "device_memory_limit");
  EXPECT_EQ(gpu->Memory()->free_bytes, 3 << 20);
  EXPECT_EQ(gpu->Memory()->total_bytes, 8 << 20);
  // The host's is not counted.
  EXPECT_TRUE(gpu->AllocatePinned(4 << 20, "the gradients").ok());
  EXPECT_TRUE(gpu->Allocate(3 << 20, "the gradients").ok());
  *block = nullptr;
  EXPECT_TRUE(gpu->Allocate(8 << 20, "the gradients").ok());
}

TEST(OutOfMemoryTest, SaysWhatWasAskedAndWhatIsFree) {
  ExpectError(
      OutOfMemory("cuda:1", "the arena", 3 << 20, {1 << 19, 8 << 20}),
      absl::StatusCode::kResourceExhausted,
      "cuda:1: out of memory: 3 MiB asked for the arena, 0.5 MiB free of "
      "8 MiB");
}

}  // namespace
}  // namespace paceline::cuda
