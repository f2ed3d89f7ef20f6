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

// Two sums of each channel of `x`, (2 · channels) doubles: those of some rows
// by sum(begin row, end row, first sums, second sums), which reads `used`, then
// added up in order: the same bits with any number of threads.
template <typename Sum>
Tensor* AddChannelSums(const Tensor* x, std::vector<const Tensor*> used,
                       Sum sum, ProgramBuilder& builder) {
  constexpr int64_t kMaxParts = 32;
  constexpr int64_t kMinPartRows = 64;
  const int64_t channels = x->shape.back();
  const int64_t rows = x->count() / channels;
  const int64_t parts = std::clamp<int64_t>(rows / kMinPartRows, 1, kMaxParts);
  Tensor* const of_parts = builder.NewTensor<double>({parts, 2 * channels});
  Tensor* const sums = builder.NewTensor<double>({2 * channels});
  used.insert(used.end(), {x, of_parts});
  builder.AddParallel(
      used, parts, rows * channels / parts, [=](int64_t begin, int64_t end) {
        for (int64_t part = begin; part < end; ++part) {
          double* const first = of_parts->doubles() + part * 2 * channels;
          sum(rows * part / parts, rows * (part + 1) / parts, first,
              first + channels);
        }
      });
  builder.Add({of_parts, sums}, [=](const Step&) {
    const int64_t count = sums->count();
    std::copy_n(of_parts->doubles(), count, sums->doubles());
    for (int64_t part = 1; part < parts; ++part) {
      const double* const more = of_parts->doubles() + part * count;
      for (int64_t i = 0; i < count; ++i) sums->doubles()[i] += more[i];
    }
  });
  return sums;
}

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_OPERATIONS_CHANNEL_SUMS_H_
