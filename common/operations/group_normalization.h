// Group normalization (Wu and He, 2018), and its gradients.
//
// Inputs have the shape (examples, positions, columns). The columns are divided
// into groups of consecutive ones. A group of an example consists of its
// columns at all positions. With one group and one position, each row is
// normalized by itself: that is layer normalization.
//
// With mean and biased variance of a group, and factor = 1 / √(variance +
// epsilon),
//
//   x̂ = (x − mean) · factor,  y = gamma · x̂ + beta
//
// where gamma and beta are per column.
#ifndef PACELINE_COMMON_OPERATIONS_GROUP_NORMALIZATION_H_
#define PACELINE_COMMON_OPERATIONS_GROUP_NORMALIZATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

struct GroupNormalizationOptions {
  // Must divide the number of columns.
  int64_t groups = 1;
  double epsilon = 1e-3;
  // If absent, gamma is 1 and beta is 0.
  bool has_gamma = false;
  bool has_beta = false;
};

// From x, [gamma], [beta] to three outputs: y, and per group, of shape
// (examples, groups), the mean and the factor. Squares are computed after
// subtracting the mean; E[x²] − E[x]² would lose a variance that is small
// compared to the mean.
class GroupNormalizationOperation final : public Operation {
 public:
  static constexpr char kName[] = "GroupNormalization";

  explicit GroupNormalizationOperation(const GroupNormalizationOptions& options)
      : options_(options) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  // Differentiates y. Mean and factor are outputs only for the gradient, and
  // pass none.
  Gradients AddGradient(const CallGradient& call) const override;

  const GroupNormalizationOptions& options() const { return options_; }

 private:
  GroupNormalizationOptions options_;
};

// From x, mean, factor, the gradient dy of y, [gamma] to the gradient of x.
// With N elements in a group and g = gamma · dy,
//
//   dx = factor · (g − Σ g / N − x̂ · Σ g·x̂ / N)
class GroupNormalizationGradientOperation final : public Operation {
 public:
  static constexpr char kName[] = "GroupNormalizationGradient";

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
};

// From x, mean, factor and dy to the gradient of gamma, Σ dy·x̂ over examples
// and positions. With `has_beta`, the second output is the gradient of beta, Σ
// dy.
class GroupNormalizationGammaGradientOperation final : public Operation {
 public:
  static constexpr char kName[] = "GroupNormalizationGammaGradient";

  explicit GroupNormalizationGammaGradientOperation(bool has_beta)
      : has_beta_(has_beta) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;

  bool has_beta() const { return has_beta_; }

 private:
  bool has_beta_;
};

// Returns y. gamma and beta have the shape (columns), if given.
Tensor GroupNormalization(const Tensor& x, const std::optional<Tensor>& gamma,
                          const std::optional<Tensor>& beta, int64_t groups,
                          double epsilon);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_GROUP_NORMALIZATION_H_
