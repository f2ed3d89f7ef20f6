#include "worker/device_groups.h"

#include <memory>
#include <vector>

#include "common/optimizer/adam.h"
#include "gtest/gtest.h"
#include "tests/conformance/fake_gpu.h"
#include "worker/device/cpu/cpu_device.h"
#include "worker/device/cuda/cuda_device.h"

namespace paceline {
namespace {

std::unique_ptr<Replica> MakeReplicaOn(std::unique_ptr<Device> device) {
  auto replica = std::make_unique<Replica>();
  replica->device = std::move(device);
  replica->optimizer = std::make_unique<Adam>();
  return replica;
}

std::unique_ptr<Device> MakeGpuDevice() {
  return std::make_unique<CudaDevice>(cuda::MakeFakeGpu());
}

TEST(DeviceGroupsTest, GpusJoinAGroup) {
  std::vector<std::unique_ptr<Replica>> replicas;
  for (int i = 0; i < 3; ++i)
    replicas.push_back(MakeReplicaOn(MakeGpuDevice()));
  ASSERT_TRUE(JoinOwnGroup(replicas).ok());
  for (const auto& replica : replicas) {
    ASSERT_NE(replica->group, nullptr);
    EXPECT_TRUE(replica->group->status().ok());
  }
}

TEST(DeviceGroupsTest, OtherDevicesStayAlone) {
  std::vector<std::unique_ptr<Replica>> replicas;
  replicas.push_back(MakeReplicaOn(MakeGpuDevice()));
  replicas.push_back(
      MakeReplicaOn(std::make_unique<CpuDevice>(CpuDeviceOptions{})));
  EXPECT_EQ(GroupableHardware(*replicas[1]), "");
  ASSERT_TRUE(JoinOwnGroup(replicas).ok());
  EXPECT_EQ(replicas[0]->group, nullptr);
}

}  // namespace
}  // namespace paceline
