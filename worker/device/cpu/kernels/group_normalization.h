// Group normalization, as defined in common/operations/group_normalization.h.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_GROUP_NORMALIZATION_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_GROUP_NORMALIZATION_H_

#include <algorithm>
#include <cstdint>

namespace paceline::cpu {

// Values of shape (examples, positions, groups · size), and their statistics.
struct NormalizedGroups {
  // Columns of small groups that are processed together.
  static constexpr int64_t kBlockColumns = 64;

  int64_t positions = 1;
  int64_t groups = 1;
  // Columns per group.
  int64_t size = 0;
  const float* values = nullptr;
  // Per group and example: the mean, and 1 / √(variance + epsilon).
  float* means = nullptr;
  float* factors = nullptr;
  // Per column.
  const float* gamma = nullptr;

  int64_t columns() const { return groups * size; }
  // The weight of an element in a mean over its group.
  double share() const { return 1.0 / static_cast<double>(positions * size); }
  // Neighbouring groups of an example are processed together, as a block.
  int64_t groups_of_block() const {
    return std::clamp<int64_t>(kBlockColumns / size, 1, groups);
  }
  int64_t blocks_of_example() const {
    return (groups + groups_of_block() - 1) / groups_of_block();
  }
};

// For the blocks [begin, end) of all examples: writes means, factors, and the
// outputs gamma · x̂ + beta.
void GroupNormalizationForward(const NormalizedGroups& groups, double epsilon,
                               const float* beta, int64_t begin, int64_t end,
                               float* outputs);

// Writes the gradients with respect to the values of the blocks [begin, end).
// They may overwrite the values or the output's gradients.
void GroupNormalizationBackward(const NormalizedGroups& groups, int64_t begin,
                                int64_t end, const float* output_gradients,
                                float* input_gradients);

// For the columns [begin, end), sums over the positions of all examples: Σ
// dy·x̂, and Σ dy unless its pointer is null.
void GroupNormalizationSums(const NormalizedGroups& groups, int64_t examples,
                            int64_t begin, int64_t end,
                            const float* output_gradients,
                            float* gamma_gradients, float* beta_gradients);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_GROUP_NORMALIZATION_H_
