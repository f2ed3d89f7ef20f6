#include "worker/device/cpu/batch_parts.h"

#include <cstdint>
#include <thread>

#include "gtest/gtest.h"
#include "worker/device/cpu/parallel.h"

namespace paceline::cpu {
namespace {

constexpr int64_t kSize = 32;
const Shape kKernel = {3, 3, 64, 64};

// The parts of `batch` images of 32 × 32 pixels.
int64_t PartsOfBatch(int64_t batch, int threads,
                     PartsOf parts_of = PartsOf::kImages,
                     const Shape& kernel = kKernel) {
  int64_t count = 0;
  std::thread([&] {
    PrepareThread(threads);
    count = PartCount({batch, kSize, kSize, kernel.back()}, kernel, parts_of);
  }).join();
  return count;
}

TEST(PartCountTest, OneThreadNeedsNoParts) {
  EXPECT_EQ(PartsOfBatch(16, /*threads=*/1), 1);
}

TEST(PartCountTest, LargeBatchesHaveSeveralPartsPerThread) {
  EXPECT_EQ(PartsOfBatch(16, /*threads=*/2), 8);
  EXPECT_EQ(PartsOfBatch(64, /*threads=*/4), 16);
}

TEST(PartCountTest, FewImagesAreNotCutUnevenly) {
  EXPECT_EQ(PartsOfBatch(1, /*threads=*/2), 1);
  EXPECT_EQ(PartsOfBatch(2, /*threads=*/2), 2);
  EXPECT_EQ(PartsOfBatch(3, /*threads=*/2), 1);
  EXPECT_EQ(PartsOfBatch(17, /*threads=*/16), 1);
}

TEST(PartCountTest, KernelGradientsThatAreSummedHaveALimit) {
  const Shape kernel = {3, 3, 512, 512};
  EXPECT_EQ(PartsOfBatch(64, /*threads=*/4, PartsOf::kKernelGradient, kernel),
            4);
  EXPECT_EQ(PartsOfBatch(64, /*threads=*/16, PartsOf::kKernelGradient, kernel),
            1);
}

}  // namespace
}  // namespace paceline::cpu
