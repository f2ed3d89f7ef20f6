// Compares how our device uses a GPU's memory with plain copies of as many
// bytes, in interleaved pairs.
#ifndef PACELINE_TESTS_BENCHMARK_GPU_COMPARISONS_H_
#define PACELINE_TESTS_BENCHMARK_GPU_COMPARISONS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "common/sharding/bucket_layout.h"
#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

struct PairOptions {
  int pairs = 5;
  // Timed rounds of either side in a pair; one more, for warm-up, is not timed.
  int rounds = 10;
};

// Bytes per second, one element per pair.
struct Comparison {
  std::vector<double> ours;
  std::vector<double> plain;

  // Our rate divided by the plain one.
  std::vector<double> Ratios() const;
};

// Copies gradients to host memory and variables back, bucket by bucket, as in
// steps whose gradients leave the GPU: each bucket with an event.
// Compared with a single copy each way of as many bytes. All host memory is
// pinned. Blocks.
absl::StatusOr<Comparison> CompareGradients(Gpu& gpu,
                                            const BucketLayout& layout,
                                            const PairOptions& options);

// Adam over `count` parameters; per parameter it reads four floats and writes
// three. Compared with a device-to-device copy of as many floats, which reads
// one and writes one. Internal if an update leaves out a variable. Blocks.
absl::StatusOr<Comparison> CompareAdam(Gpu& gpu, int64_t count,
                                       const PairOptions& options);

}  // namespace paceline::cuda

#endif  // PACELINE_TESTS_BENCHMARK_GPU_COMPARISONS_H_
