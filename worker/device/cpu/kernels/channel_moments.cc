#include "worker/device/cpu/kernels/channel_moments.h"

#include <algorithm>

namespace paceline::cpu {
namespace {

// Rows that are added up in float32.
constexpr int64_t kRowBlock = 64;

// Adds `term(row, channel)` of all rows to `sums`, for one block of channels.
template <typename Term>
void AddRows(int64_t rows, int64_t channels, double* sums, Term term) {
  for (int64_t first = 0; first < rows; first += kRowBlock) {
    float partial[kMomentBlock] = {};
    const int64_t last = std::min(first + kRowBlock, rows);
    for (int64_t row = first; row < last; ++row) {
#pragma omp simd
      for (int64_t c = 0; c < channels; ++c) partial[c] += term(row, c);
    }
    for (int64_t c = 0; c < channels; ++c) sums[c] += double{partial[c]};
  }
}

// Calls `visit(begin, count)` for each block of channels in [begin, end).
template <typename Visit>
void VisitBlocks(int64_t begin, int64_t end, Visit visit) {
  for (; begin < end; begin += kMomentBlock) {
    visit(begin, std::min(kMomentBlock, end - begin));
  }
}

}  // namespace

void ChannelMoments(const ChannelMatrix& matrix, int64_t begin, int64_t end,
                    const float* values, double* sums, double* deviations) {
  VisitBlocks(begin, end, [&](int64_t first, int64_t count) {
    std::fill_n(sums + first, count, 0.0);
    std::fill_n(deviations + first, count, 0.0);
    const float* const x = values + first;
    AddRows(matrix.rows, count, sums + first, [&](int64_t row, int64_t c) {
      return x[row * matrix.channels + c];
    });
    float means[kMomentBlock];
    for (int64_t c = 0; c < count; ++c) {
      means[c] = static_cast<float>(sums[first + c] /
                                    static_cast<double>(matrix.rows));
    }
    AddRows(matrix.rows, count, deviations + first,
            [&](int64_t row, int64_t c) {
              const float difference = x[row * matrix.channels + c] - means[c];
              return difference * difference;
            });
  });
}

void ChannelProducts(const ChannelMatrix& matrix, int64_t begin, int64_t end,
                     const float* gradients, const float* values,
                     const float* means, double* sums, double* products) {
  VisitBlocks(begin, end, [&](int64_t first, int64_t count) {
    std::fill_n(sums + first, count, 0.0);
    std::fill_n(products + first, count, 0.0);
    const float* const dy = gradients + first;
    const float* const x = values + first;
    const float* const mean = means + first;
    AddRows(matrix.rows, count, sums + first, [&](int64_t row, int64_t c) {
      return dy[row * matrix.channels + c];
    });
    AddRows(matrix.rows, count, products + first, [&](int64_t row, int64_t c) {
      const int64_t at = row * matrix.channels + c;
      return dy[at] * (x[at] - mean[c]);
    });
  });
}

}  // namespace paceline::cpu
