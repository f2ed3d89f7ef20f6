// Checks on the fake GPU what is compared, not how fast it is.
#include "tests/benchmark/gpu_comparisons.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/limits.h"
#include "common/sharding/shard_plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/fake_gpu.h"
#include "worker/device/cuda/kernels/step_values.h"

namespace paceline::cuda {
namespace {

using ::testing::Each;
using ::testing::ElementsAreArray;
using ::testing::Gt;
using ::testing::SizeIs;

// The copies and kernels of all queues.
CallLog CopiesAndKernels(const CallLog& log) {
  CallLog found;
  for (const std::string& call : log) {
    if (absl::StrContains(call, "copy") || absl::StrContains(call, "kernel")) {
      found.push_back(call.substr(call.find(": ") + 2));
    }
  }
  return found;
}

void Append(int times, const CallLog& calls, CallLog& to) {
  for (int i = 0; i < times; ++i)
    to.insert(to.end(), calls.begin(), calls.end());
}

// Each variable is larger than a bucket, so it gets a bucket of its own.
ShardPlan PlanOfThree() {
  std::vector<VariableSpec> variables(3);
  auto rows = static_cast<int64_t>(limits::kBucketBytes);
  for (VariableSpec& variable : variables) variable.shape = {rows++, 1};
  return *ShardPlan::Make(variables, /*shards=*/1, {}, sizeof(float));
}

TEST(GpuComparisonsTest, GradientsTravelInBucketsBesideOneBlock) {
  const ShardPlan plan = PlanOfThree();
  ASSERT_THAT(plan.layout().buckets(), SizeIs(3));
  CallLog log;
  const std::unique_ptr<Gpu> gpu = MakeFakeGpu({.log = &log});
  const auto comparison =
      CompareGradients(*gpu, plan.layout(), {.pairs = 2, .rounds = 3});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  EXPECT_THAT(comparison->ours, SizeIs(2));
  EXPECT_THAT(comparison->plain, SizeIs(2));
  EXPECT_THAT(comparison->Ratios(), Each(Gt(0)));

  CallLog buckets;
  int64_t bytes = 0;
  for (const Bucket& bucket : plan.layout().updated_buckets()) {
    const auto size = bucket.count * static_cast<int64_t>(sizeof(float));
    buckets.push_back(absl::StrCat("copy ", size, " bytes"));
    bytes += size;
  }
  CallLog expected;
  for (int pair = 0; pair < 2; ++pair) {
    // A warm-up round and three measured ones; each copies there and back.
    Append(4 * 2, buckets, expected);
    Append(4 * 2, {absl::StrCat("copy ", bytes, " bytes")}, expected);
  }
  EXPECT_THAT(CopiesAndKernels(log), ElementsAreArray(expected));
}

TEST(GpuComparisonsTest, AdamRunsBesideCopiesOfABlock) {
  CallLog log;
  const std::unique_ptr<Gpu> gpu = MakeFakeGpu({.log = &log});
  const auto comparison = CompareAdam(*gpu, 1000, {.pairs = 2, .rounds = 1});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  EXPECT_THAT(comparison->Ratios(), SizeIs(2));
  // Gradients and the step's values go to the GPU before.
  CallLog expected = {"copy 4000 bytes",
                      absl::StrCat("copy ", sizeof(StepValues), " bytes")};
  Append(2, {"kernel", "kernel", "copy 4000 bytes", "copy 4000 bytes"},
         expected);
  // And the variables come back.
  expected.push_back("copy 4000 bytes");
  EXPECT_THAT(CopiesAndKernels(log), ElementsAreArray(expected));
}

TEST(GpuComparisonsTest, RatiosAreOfPairs) {
  const Comparison comparison = {.ours = {3, 8}, .plain = {2, 16}};
  EXPECT_THAT(comparison.Ratios(), ElementsAreArray({1.5, 0.5}));
}

TEST(GpuComparisonsTest, MemoryThatIsFullIsAnError) {
  const std::unique_ptr<Gpu> gpu = MakeFakeGpu({.memory_bytes = 1000});
  EXPECT_EQ(CompareAdam(*gpu, 1000, {}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace paceline::cuda
