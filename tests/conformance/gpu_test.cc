// Tests of the GPU interface, on which the device is built: with the fake GPU,
// and with a real one if there is one.
#include "worker/device/cuda/gpu.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/conformance/devices.h"
#include "tests/conformance/fake_gpu.h"

namespace paceline::cuda {
namespace {

// Joins a group without others, sums up in it, and ends it.
void ExpectSumsUpAlone(Gpu& gpu, const std::string& nccl_id) {
  const absl::StatusOr<std::unique_ptr<Communicator>> joined =
      gpu.JoinGroup({.nccl_id = nccl_id, .timeout = absl::Seconds(60)});
  ASSERT_TRUE(joined.ok()) << joined.status();
  Communicator& communicator = **joined;
  const std::unique_ptr<Queue> queue = *gpu.CreateQueue(QueueKind::kComputing);

  std::vector<float> values(100'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.5F + i;
  const auto count = static_cast<int64_t>(values.size());
  const auto size_bytes = count * static_cast<int64_t>(sizeof(float));
  const MemoryBlock block = *gpu.Allocate(size_bytes, "values");
  auto* const on_gpu = reinterpret_cast<float*>(block.get());
  queue->Copy(on_gpu, values.data(), size_bytes);
  communicator.AllReduce(on_gpu, count, *queue);
  communicator.AllReduce(on_gpu, count, *queue);
  std::vector<float> sums(values.size());
  queue->Copy(sums.data(), on_gpu, size_bytes);
  ASSERT_EQ(queue->Synchronize(), absl::OkStatus());
  EXPECT_EQ(communicator.status(), absl::OkStatus());
  EXPECT_EQ(sums, values);

  const absl::Status reason = absl::CancelledError("enough");
  communicator.Abort(reason);
  EXPECT_EQ(communicator.status(), reason);
  communicator.AllReduce(on_gpu, count, *queue);
  EXPECT_EQ(communicator.status(), reason);
  EXPECT_EQ(queue->Synchronize(), absl::OkStatus());
}

TEST(FakeGpuTest, SumsUpAlone) {
  const std::unique_ptr<Gpu> gpu = MakeFakeGpu();
  ExpectSumsUpAlone(*gpu, *gpu->NewNcclId());
}

TEST(GpuTest, SumsUpAlone) {
  const std::string obstacle = GpuObstacle();
  if (!obstacle.empty()) GTEST_SKIP() << obstacle;
  const absl::StatusOr<std::unique_ptr<Gpu>> gpu = OpenFirstGpu();
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  const absl::StatusOr<std::string> nccl_id = (*gpu)->NewNcclId();
  if (absl::IsUnimplemented(nccl_id.status())) {
    GTEST_SKIP() << nccl_id.status().message();
  }
  ASSERT_TRUE(nccl_id.ok()) << nccl_id.status();
  EXPECT_NE((*gpu)->gpu_uuid(), "");
  ExpectSumsUpAlone(**gpu, *nccl_id);
}

}  // namespace
}  // namespace paceline::cuda
