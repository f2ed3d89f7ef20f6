// Sums of each channel over the rows of a batch.
#ifndef PACELINE_WORKER_DEVICE_CPU_OPERATIONS_CHANNEL_SUMS_H_
#define PACELINE_WORKER_DEVICE_CPU_OPERATIONS_CHANNEL_SUMS_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "worker/device/cpu/program_builder.h"
#include "worker/device/program/tensor.h"

namespace paceline::cpu {

// Divides the rows of a batch, (…, channels), into parts for the threads. The
// number of parts depends only on the shape, so the results have the same bits
// with any number of threads.
struct RowParts {
  explicit RowParts(const Tensor* x)
      : channels(x->shape.back()),
        rows(x->count() / channels),
        count(std::clamp<int64_t>(rows / kMinRows, 1, kMaxCount)) {}

  int64_t begin(int64_t part) const { return rows * part / count; }
  int64_t end(int64_t part) const { return begin(part + 1); }

  static constexpr int64_t kMaxCount = 32;
  static constexpr int64_t kMinRows = 64;
  int64_t channels;
  int64_t rows;
  int64_t count;
};

// Two results per channel and part, (parts, 2 · channels) doubles, computed by
// compute(begin row, end row, first results, second results), which reads
// `used`.
template <typename Compute>
Tensor* AddPartResults(const Tensor* x, std::vector<const Tensor*> used,
                       Compute compute, ProgramBuilder& builder) {
  const RowParts parts(x);
  Tensor* const results =
      builder.NewTensor<double>({parts.count, 2 * parts.channels});
  used.insert(used.end(), {x, results});
  builder.AddParallel(
      used, parts.count, parts.rows * parts.channels / parts.count,
      [=](int64_t begin, int64_t end) {
        for (int64_t part = begin; part < end; ++part) {
          double* const first = results->doubles() + part * 2 * parts.channels;
          compute(parts.begin(part), parts.end(part), first,
                  first + parts.channels);
        }
      });
  return results;
}

// Two sums per channel of `x`, (2 · channels) doubles: the results of
// AddPartResults, summed in the order of parts.
template <typename Sum>
Tensor* AddChannelSums(const Tensor* x, std::vector<const Tensor*> used,
                       Sum sum, ProgramBuilder& builder) {
  Tensor* const of_parts = AddPartResults(x, std::move(used), sum, builder);
  Tensor* const sums = builder.NewTensor<double>({of_parts->shape.back()});
  builder.Add({of_parts, sums}, [=](const Step&) {
    const int64_t count = sums->count();
    std::copy_n(of_parts->doubles(), count, sums->doubles());
    for (int64_t part = 1; part < of_parts->shape[0]; ++part) {
      const double* const more = of_parts->doubles() + part * count;
      for (int64_t i = 0; i < count; ++i) sums->doubles()[i] += more[i];
    }
  });
  return sums;
}

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_OPERATIONS_CHANNEL_SUMS_H_
