// What a machine says that it has.

#include "common/daemon/machine_resources.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/base/cores.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

class MachineResourcesTest : public ::testing::Test {
 protected:
  MachineResourcesTest() {
    fs::remove_all(root_);
    Write("proc/meminfo", "MemTotal:       2048 kB\nMemFree:  1 kB\n");
  }

  void Write(const std::string& path, const std::string& content) {
    const fs::path file = fs::path(root_) / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }

  const std::string root_ = ::testing::TempDir() + "machine_resources_test";
};

TEST_F(MachineResourcesTest, WithoutLimitsItIsTheWholeMachine) {
  Write("sys/fs/cgroup/cpu.max", "max 100000\n");
  Write("sys/fs/cgroup/memory.max", "max\n");
  const auto resources = MachineResources(root_);
  ASSERT_TRUE(resources.ok()) << resources.status();
  EXPECT_EQ(resources->millicores(), 1000 * UsableCores());
  EXPECT_EQ(resources->memory_bytes(), 2 << 20);
  EXPECT_EQ(resources->gpus(), 0);
}

TEST_F(MachineResourcesTest, TheControlGroupLimitsCoresAndMemory) {
  Write("sys/fs/cgroup/cpu.max", "25000 100000\n");
  Write("sys/fs/cgroup/memory.max", "1048576\n");
  Write("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: X\n");
  Write("proc/driver/nvidia/gpus/0000:02:00.0/information", "Model: X\n");
  const auto resources = MachineResources(root_);
  ASSERT_TRUE(resources.ok()) << resources.status();
  EXPECT_EQ(resources->millicores(), 250);
  EXPECT_EQ(resources->memory_bytes(), 1 << 20);
  EXPECT_EQ(resources->gpus(), 2);
}

TEST_F(MachineResourcesTest, AMachineThatDoesNotTellItsMemoryIsAnError) {
  Write("proc/meminfo", "nothing\n");
  EXPECT_EQ(MachineResources(root_).status().message(),
            root_ + "/proc/meminfo: there is no MemTotal");
  EXPECT_EQ(MachineResources(root_ + "/none").status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace paceline
