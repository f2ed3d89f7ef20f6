#include "worker/device/cpu/kernels/group_normalization.h"

#include <algorithm>
#include <cmath>

#include "common/base/simd.h"

namespace paceline::cpu {
namespace {

constexpr int64_t kBlockColumns = NormalizedGroups::kBlockColumns;
// At most this many columns are summed in float32; the sums of these in
// float64.
constexpr int64_t kFloatSumColumns = 1024;

// The sums of two terms over a group.
struct GroupSums {
  double a;
  double b;
};

// The second term of SumUp, for callers that need only one sum.
constexpr auto kNothing = [](int64_t /*at*/, int64_t /*column*/) {
  return 0.0f;
};

// The columns of one group.
class OneGroup {
 public:
  static constexpr int64_t kMaxGroups = 1;

  OneGroup(int64_t /*first_column*/, int64_t count, int64_t /*size*/)
      : count_(count) {}

  // Writes Σ term(index of the element, column) over all positions, which are
  // `stride` apart, for two terms.
  template <typename A, typename B>
  [[gnu::always_inline]] void SumUp(int64_t positions, int64_t stride, A a, B b,
                                    GroupSums* sums) const {
    GroupSums total = {};
    for (int64_t p = 0; p < positions; ++p) {
      for (int64_t first = 0; first < count_; first += kFloatSumColumns) {
        const int64_t end = std::min(first + kFloatSumColumns, count_);
        float sum_a = 0;
        float sum_b = 0;
#pragma omp simd reduction(+ : sum_a, sum_b)
        for (int64_t i = first; i < end; ++i) {
          sum_a += a(p * stride + i, i);
          sum_b += b(p * stride + i, i);
        }
        total.a += sum_a;
        total.b += sum_b;
      }
    }
    sums[0] = total;
  }

  int64_t group_count() const { return 1; }

  // One number per group, looked up by column.
  class Numbers {
   public:
    Numbers(const OneGroup& /*block*/, const float* of_groups)
        : value_(of_groups[0]) {}
    float operator[](int64_t /*column*/) const { return value_; }

   private:
    float value_;
  };

 private:
  int64_t count_;
};

// Up to kBlockColumns neighbouring columns of several groups of `size`. For
// sums, all groups must be complete.
class SmallGroups {
 public:
  static constexpr int64_t kMaxGroups = kBlockColumns;

  SmallGroups(int64_t first_column, int64_t count, int64_t size)
      : before_(first_column % size), count_(count), size_(size) {}

  // The same for each group.
  template <typename A, typename B>
  [[gnu::always_inline]] void SumUp(int64_t positions, int64_t stride, A a, B b,
                                    GroupSums* sums) const {
    double of_a[kBlockColumns] = {};
    double of_b[kBlockColumns] = {};
    for (int64_t p = 0; p < positions; ++p) {
#pragma omp simd
      for (int64_t i = 0; i < count_; ++i) {
        of_a[i] += double{a(p * stride + i, i)};
        of_b[i] += double{b(p * stride + i, i)};
      }
    }
    for (int64_t first = 0; first < count_; first += size_, ++sums) {
      *sums = {};
      for (int64_t i = first; i < first + size_; ++i) {
        sums->a += of_a[i];
        sums->b += of_b[i];
      }
    }
  }

  int64_t group_count() const { return count_ / size_; }

  class Numbers {
   public:
    Numbers(const SmallGroups& block, const float* of_groups) {
      for (int64_t i = 0, of_group = block.before_; i < block.count_; ++i) {
        values_[i] = *of_groups;
        if (++of_group == block.size_) {
          of_group = 0;
          ++of_groups;
        }
      }
    }
    float operator[](int64_t column) const { return values_[column]; }

   private:
    float values_[kBlockColumns];
  };

 private:
  // Columns of the first group before the block.
  int64_t before_;
  int64_t count_;
  int64_t size_;
};

// A block of an example, and the iteration to the next block.
template <typename Columns>
class Block {
 public:
  Block(const NormalizedGroups& groups, int64_t index)
      : groups_(groups), of_block_(groups.groups_of_block()) {
    const int64_t of_example = groups.blocks_of_example();
    before_ = index % of_example * of_block_;
    const int64_t example = index / of_example;
    group_ = example * groups.groups + before_;
    element_ = example * groups.positions * groups.columns() + column();
  }

  int64_t group_count() const {
    return Columns::kMaxGroups == 1
               ? 1
               : std::min(of_block_, groups_.groups - before_);
  }
  int64_t column_count() const { return group_count() * groups_.size; }
  // The block's first group (an index into the statistics), first column, and
  // first element.
  int64_t group() const { return group_; }
  int64_t column() const { return before_ * groups_.size; }
  int64_t element() const { return element_; }

  void Next() {
    const int64_t count = group_count();
    before_ += count;
    group_ += count;
    element_ += count * groups_.size;
    if (before_ < groups_.groups) return;
    before_ = 0;
    element_ += (groups_.positions - 1) * groups_.columns();
  }

 private:
  const NormalizedGroups& groups_;
  int64_t of_block_;
  // Groups of the example before the block.
  int64_t before_;
  int64_t group_;
  int64_t element_;
};

template <typename Columns>
[[gnu::always_inline]] inline void ForwardBlock(const NormalizedGroups& groups,
                                                const Block<Columns>& block,
                                                double epsilon,
                                                const float* beta,
                                                float* outputs) {
  const int64_t stride = groups.columns();
  const int64_t width = block.column_count();
  const Columns columns(block.column(), width, groups.size);
  const double share = groups.share();
  const float* const x = groups.values + block.element();
  GroupSums sums[Columns::kMaxGroups];

  float* const means = groups.means + block.group();
  columns.SumUp(
      groups.positions, stride, [=](int64_t at, int64_t) { return x[at]; },
      kNothing, sums);
  for (int64_t g = 0; g < columns.group_count(); ++g) {
    means[g] = static_cast<float>(sums[g].a * share);
  }
  const typename Columns::Numbers mean(columns, means);

  float* const factors = groups.factors + block.group();
  columns.SumUp(
      groups.positions, stride,
      [=, &mean](int64_t at, int64_t i) {
        return (x[at] - mean[i]) * (x[at] - mean[i]);
      },
      kNothing, sums);
  for (int64_t g = 0; g < columns.group_count(); ++g) {
    factors[g] = static_cast<float>(1 / std::sqrt(sums[g].a * share + epsilon));
  }
  const typename Columns::Numbers factor(columns, factors);

  const float* const gamma = groups.gamma + block.column();
  const float* const offset = beta + block.column();
  float* const y = outputs + block.element();
  for (int64_t p = 0; p < groups.positions; ++p) {
#pragma omp simd
    for (int64_t i = 0; i < width; ++i) {
      const int64_t at = p * stride + i;
      y[at] = (x[at] - mean[i]) * factor[i] * gamma[i] + offset[i];
    }
  }
}

// With N elements in a group and g = gamma · dy,
//   dx = factor · (g − Σ g / N − (x − mean) · factor² · Σ g · (x − mean) / N)
template <typename Columns>
[[gnu::always_inline]] inline void BackwardBlock(const NormalizedGroups& groups,
                                                 const Block<Columns>& block,
                                                 const float* output_gradients,
                                                 float* input_gradients) {
  const int64_t stride = groups.columns();
  const int64_t width = block.column_count();
  const Columns columns(block.column(), width, groups.size);
  const float* const x = groups.values + block.element();
  const float* const dy = output_gradients + block.element();
  const float* const gamma = groups.gamma + block.column();
  const float* const factors = groups.factors + block.group();
  const typename Columns::Numbers mean(columns, groups.means + block.group());
  const typename Columns::Numbers factor(columns, factors);

  GroupSums sums[Columns::kMaxGroups];
  columns.SumUp(
      groups.positions, stride,
      [=](int64_t at, int64_t i) { return gamma[i] * dy[at]; },
      [=, &mean](int64_t at, int64_t i) {
        return gamma[i] * dy[at] * (x[at] - mean[i]);
      },
      sums);
  float shifts[Columns::kMaxGroups];
  float slopes[Columns::kMaxGroups];
  for (int64_t g = 0; g < columns.group_count(); ++g) {
    shifts[g] = static_cast<float>(sums[g].a * groups.share());
    slopes[g] = static_cast<float>(sums[g].b * groups.share() * factors[g] *
                                   factors[g]);
  }
  const typename Columns::Numbers shift(columns, shifts);
  const typename Columns::Numbers slope(columns, slopes);

  float* const dx = input_gradients + block.element();
  for (int64_t p = 0; p < groups.positions; ++p) {
#pragma omp simd
    for (int64_t i = 0; i < width; ++i) {
      const int64_t at = p * stride + i;
      dx[at] = factor[i] *
               (gamma[i] * dy[at] - shift[i] - (x[at] - mean[i]) * slope[i]);
    }
  }
}

// The sums of `count` columns from `first` on, at most kBlockColumns.
template <typename Columns>
[[gnu::always_inline]] inline void SumColumns(const NormalizedGroups& groups,
                                              int64_t examples, int64_t first,
                                              int64_t count,
                                              const float* output_gradients,
                                              float* gamma_gradients,
                                              float* beta_gradients) {
  const Columns columns(first, count, groups.size);
  double products[kBlockColumns] = {};
  double sums[kBlockColumns] = {};
  const float* x = groups.values + first;
  const float* dy = output_gradients + first;
  for (int64_t example = 0; example < examples; ++example) {
    const int64_t group = example * groups.groups + first / groups.size;
    const typename Columns::Numbers mean(columns, groups.means + group);
    const typename Columns::Numbers factor(columns, groups.factors + group);
    for (int64_t p = 0; p < groups.positions; ++p) {
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) {
        sums[i] += double{dy[i]};
        products[i] += double{dy[i] * ((x[i] - mean[i]) * factor[i])};
      }
      x += groups.columns();
      dy += groups.columns();
    }
  }
  for (int64_t i = 0; i < count; ++i) {
    gamma_gradients[first + i] = static_cast<float>(products[i]);
    if (beta_gradients != nullptr) {
      beta_gradients[first + i] = static_cast<float>(sums[i]);
    }
  }
}

template <typename Columns>
[[gnu::always_inline]] inline void ForwardBlocks(const NormalizedGroups& groups,
                                                 double epsilon,
                                                 const float* beta,
                                                 int64_t begin, int64_t end,
                                                 float* outputs) {
  Block<Columns> block(groups, begin);
  for (int64_t i = begin; i < end; ++i, block.Next()) {
    ForwardBlock(groups, block, epsilon, beta, outputs);
  }
}

template <typename Columns>
[[gnu::always_inline]] inline void BackwardBlocks(
    const NormalizedGroups& groups, int64_t begin, int64_t end,
    const float* output_gradients, float* input_gradients) {
  Block<Columns> block(groups, begin);
  for (int64_t i = begin; i < end; ++i, block.Next()) {
    BackwardBlock(groups, block, output_gradients, input_gradients);
  }
}

}  // namespace

PACELINE_MULTIVERSION
void GroupNormalizationForward(const NormalizedGroups& groups, double epsilon,
                               const float* beta, int64_t begin, int64_t end,
                               float* outputs) {
  if (groups.groups_of_block() == 1) {
    ForwardBlocks<OneGroup>(groups, epsilon, beta, begin, end, outputs);
  } else {
    ForwardBlocks<SmallGroups>(groups, epsilon, beta, begin, end, outputs);
  }
}

PACELINE_MULTIVERSION
void GroupNormalizationBackward(const NormalizedGroups& groups, int64_t begin,
                                int64_t end, const float* output_gradients,
                                float* input_gradients) {
  if (groups.groups_of_block() == 1) {
    BackwardBlocks<OneGroup>(groups, begin, end, output_gradients,
                             input_gradients);
  } else {
    BackwardBlocks<SmallGroups>(groups, begin, end, output_gradients,
                                input_gradients);
  }
}

PACELINE_MULTIVERSION
void GroupNormalizationSums(const NormalizedGroups& groups, int64_t examples,
                            int64_t begin, int64_t end,
                            const float* output_gradients,
                            float* gamma_gradients, float* beta_gradients) {
  for (int64_t first = begin; first < end; first += kBlockColumns) {
    const int64_t count = std::min(kBlockColumns, end - first);
    if (groups.groups == 1) {
      SumColumns<OneGroup>(groups, examples, first, count, output_gradients,
                           gamma_gradients, beta_gradients);
    } else {
      SumColumns<SmallGroups>(groups, examples, first, count, output_gradients,
                              gamma_gradients, beta_gradients);
    }
  }
}

}  // namespace paceline::cpu
