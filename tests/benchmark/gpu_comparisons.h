// What our device does with a GPU's memory beside the plainest calls that move
// as many bytes, in interleaved pairs.
#ifndef PACELINE_TESTS_BENCHMARK_GPU_COMPARISONS_H_
#define PACELINE_TESTS_BENCHMARK_GPU_COMPARISONS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "common/sharding/shard_plan.h"
#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

struct PairOptions {
  int pairs = 5;
  // Rounds of either side in a pair; a warm one more is not timed.
  int rounds = 10;
};

// Bytes a second, an element a pair.
struct Comparison {
  std::vector<double> ours;
  std::vector<double> plain;

  // Ours over plain.
  std::vector<double> Ratios() const;
};

// The gradients of a plan to host memory, and its variables back, as steps do
// whose gradients leave the GPU: bucket by bucket, each with an event. Beside
// one copy each way of as many bytes. All memory of the host is pinned. Blocks.
absl::StatusOr<Comparison> CompareGradients(Gpu& gpu, const ShardPlan& plan,
                                            const PairOptions& options);

// Adam over `count` parameters, of each of which it reads four floats and
// writes three, beside a copy of as many floats from the GPU's memory to it,
// which reads one and writes one. Blocks.
absl::StatusOr<Comparison> CompareAdam(Gpu& gpu, int64_t count,
                                       const PairOptions& options);

}  // namespace paceline::cuda

#endif  // PACELINE_TESTS_BENCHMARK_GPU_COMPARISONS_H_
