#include "worker/setup/device_groups.h"

#include <memory>
#include <thread>
#include <vector>

#include "common/limits.h"
#include "common/optimizer/adam.h"
#include "gtest/gtest.h"
#include "tests/conformance/fake_gpu.h"
#include "worker/device/cpu/cpu_device.h"
#include "worker/device/cuda/cuda_device.h"
#include "worker/setup/peers.h"

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
  EXPECT_EQ(GroupableGpu(*replicas[1]), "");
  ASSERT_TRUE(JoinOwnGroup(replicas).ok());
  EXPECT_EQ(replicas[0]->group, nullptr);
}

// What the leader tells two workers that offered their devices.
class PeersTest : public ::testing::Test {
 protected:
  PeersTest() {
    for (int rank = 0; rank < 2; ++rank) {
      replicas_[rank].push_back(MakeReplicaOn(MakeGpuDevice()));
      const Replica& replica = *replicas_[rank].front();
      v1::AwaitStartRequest request;
      EXPECT_TRUE(OfferDevice(replica, rank, request).ok());
      EXPECT_EQ(request.nccl_id().empty(), rank != 0);
      if (rank == 0) start_.set_nccl_id(request.nccl_id());
      start_.add_gpu_uuids(request.gpu_uuid());
    }
  }

  // Of each worker, on a thread.
  void ExpectJoin(bool joins) {
    const auto join = [&](int rank) {
      EXPECT_TRUE(JoinPeers(start_, rank, replicas_[rank]).ok());
      EXPECT_EQ(replicas_[rank].front()->group != nullptr, joins);
    };
    std::thread other([&] { join(1); });
    join(0);
    other.join();
  }

  std::vector<std::unique_ptr<Replica>> replicas_[2];
  v1::AwaitStartResponse start_;
};

TEST_F(PeersTest, JoinAGroup) { ExpectJoin(true); }

TEST_F(PeersTest, StayAloneWhereOneHasNoGpu) {
  start_.set_gpu_uuids(1, "");
  ExpectJoin(false);
}

TEST_F(PeersTest, StayAloneOnTheSameGpu) {
  start_.set_gpu_uuids(1, start_.gpu_uuids(0));
  ExpectJoin(false);
}

TEST_F(PeersTest, ThatOfferedAGpuMayTakeLongerToBeThere) {
  EXPECT_EQ(PeerOptions(start_, 0, 1)->connect_timeout, limits::kStartTimeout);
  start_.clear_gpu_uuids();
  start_.add_gpu_uuids("");
  start_.add_gpu_uuids("");
  EXPECT_EQ(PeerOptions(start_, 0, 1)->connect_timeout,
            limits::kConnectTimeout);
}

}  // namespace
}  // namespace paceline
