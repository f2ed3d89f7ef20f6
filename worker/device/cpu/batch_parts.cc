#include "worker/device/cpu/batch_parts.h"

#include <algorithm>

namespace paceline::cpu {
namespace {

// With fewer pixels per thread, the batch is not split.
constexpr int64_t kMinPixelsPerThread = 128;
// Maximum idle time of the threads, since parts are whole examples: 3 examples
// on 2 threads leave a quarter.
constexpr double kMaxIdle = 0.125;
// Maximum size of all kernel gradients that are summed: more would fall out of
// the caches, and the arena would grow by it.
constexpr int64_t kMaxSummedBytes = 64 << 20;

// More parts than threads balance better. They are made as long as each has at
// least as many multiplications, so that computing it takes far longer than
// starting it, and as many output pixels, so that reading the kernel, or
// summing its gradient, takes little time compared to the multiplications.
constexpr int64_t kMaxPartsPerThread = 4;
constexpr int64_t kMinProducts = 4 << 20;
int64_t MinPixels(PartsOf parts_of) {
  return parts_of == PartsOf::kKernelGradient ? 2048 : 256;
}

// The part of the threads' time that is idle if each thread computes whole
// examples.
double IdleTime(int64_t batch, int64_t threads) {
  const int64_t busiest = (batch + threads - 1) / threads;
  return 1 -
         static_cast<double>(batch) / static_cast<double>(busiest * threads);
}

}  // namespace

int64_t PartCount(const Shape& output, const Shape& kernel, PartsOf parts_of) {
  const int64_t threads = ThreadCount();
  const int64_t batch = output[0];
  const int64_t pixels = batch * output[1] * output[2];
  const int64_t products = pixels * NumElements(kernel);
  const auto fits = [&](int64_t part_count) {
    return parts_of != PartsOf::kKernelGradient ||
           part_count * NumElements(kernel) *
                   static_cast<int64_t>(sizeof(float)) <=
               kMaxSummedBytes;
  };
  if (threads == 1 || pixels < threads * kMinPixelsPerThread ||
      IdleTime(batch, threads) > kMaxIdle || !fits(threads)) {
    return 1;
  }
  int64_t count = threads;
  while (2 * count <= threads * kMaxPartsPerThread && fits(2 * count) &&
         pixels >= 2 * count * MinPixels(parts_of) &&
         products >= 2 * count * kMinProducts) {
    count *= 2;
  }
  return std::min(batch, count);
}

PrimitiveArgument From(int64_t begin, int index, Tensor* images,
                       const dnnl::memory::desc& layout) {
  const int64_t example_bytes = images->count() / images->shape[0] *
                                static_cast<int64_t>(SizeOf(images->type));
  return {index, images, layout, begin * example_bytes};
}

void AddSums(const std::vector<Tensor*>& sums, int64_t count,
             ProgramBuilder& builder) {
  if (sums.size() == 1) return;
  builder.AddParallel({sums.begin(), sums.end()}, count,
                      static_cast<int64_t>(sums.size()),
                      [sums](int64_t begin, int64_t end) {
                        float* const sum = sums[0]->as<float>();
                        for (size_t i = 1; i < sums.size(); ++i) {
                          const float* const part = sums[i]->as<float>();
                          for (int64_t j = begin; j < end; ++j) {
                            sum[j] += part[j];
                          }
                        }
                      });
}

}  // namespace paceline::cpu
