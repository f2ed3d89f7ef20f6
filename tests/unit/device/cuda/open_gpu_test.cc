// What is refused before a GPU is used.
#include "worker/device/cuda/open_gpu.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/device/cuda/out_of_memory.h"

namespace paceline::cuda {
namespace {

using ::testing::HasSubstr;

class ReportingDriver final : public Driver {
 public:
  explicit ReportingDriver(DriverReport report) : report_(report) {}
  DriverReport Report() const override { return report_; }
  absl::StatusOr<std::unique_ptr<Gpu>> Open(int /*ordinal*/) override {
    return std::unique_ptr<Gpu>();
  }

 private:
  const DriverReport report_;
};

absl::Status Open(int driver_version, int gpu_count, int ordinal) {
  ReportingDriver driver({.driver_version = driver_version,
                          .runtime_version = 13010,
                          .needed_version = 13000,
                          .gpu_count = gpu_count});
  return OpenGpu(driver, ordinal).status();
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
  Libraries libraries;
  libraries.driver = "libc.so.6";
  const absl::StatusOr<std::unique_ptr<Driver>> driver = LoadDriver(libraries);
  if (!driver.ok()) GTEST_SKIP() << driver.status();
  const DriverReport report = (*driver)->Report();
  EXPECT_GE(report.runtime_version, report.needed_version);
  EXPECT_GT(report.needed_version, 0);
  EXPECT_FALSE(OpenGpu(**driver, report.gpu_count).ok());
}

TEST(OutOfMemoryTest, SaysWhatWasAskedAndWhatIsFree) {
  ExpectError(OutOfMemory("cuda:1", "the arena", 3 << 20, 1 << 19, 8 << 20),
              absl::StatusCode::kResourceExhausted,
              "cuda:1: out of memory: the arena needs 3 MiB, free are 0.5 of 8 "
              "MiB");
}

}  // namespace
}  // namespace paceline::cuda
