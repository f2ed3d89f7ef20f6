// Normalization by the mean and variance of groups (Wu and He, 2018), and what
// goes back.
//
// Inputs have the shape (examples, positions, columns). Their columns are
// parted into groups of neighbours; the elements of a group of an example lie
// at all of its positions. With one group and one position, each row is
// normalized by its own statistics: that is layer normalization.
//
// With mean and biased variance of a group, and 1 / √(variance + epsilon) as
// its factor,
//
//   x̂ = (x − mean) · factor,  y = gamma · x̂ + beta
//
// where gamma and beta are numbers of a column.
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
  // Divides the columns.
  int64_t groups = 1;
  double epsilon = 1e-3;
  // Without them, gamma is 1 and beta 0.
  bool has_gamma = false;
  bool has_beta = false;
};

// From x, [gamma], [beta] to three outputs: y, and of each group, of shape
// (examples, groups), the mean and the factor. Squares are summed up around the
// mean: with E[x²] − E[x]² nothing would be left of a variance that is small
// beside the mean.
class GroupNormalizationOperation final : public Operation {
 public:
  static constexpr char kName[] = "GroupNormalization";

  explicit GroupNormalizationOperation(const GroupNormalizationOptions& options)
      : options_(options) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  // Of y; mean and factor are for the gradient alone, and pass none.
  Gradients AddGradient(const CallGradient& call) const override;

  const GroupNormalizationOptions& options() const { return options_; }

 private:
  GroupNormalizationOptions options_;
};

// From x, mean, factor, the gradient dy by y, [gamma] to the gradient by x.
// With N elements in a group and g = gamma · dy,
//   dx = factor · (g − Σ g / N − x̂ · Σ g·x̂ / N)
class GroupNormalizationGradientOperation final : public Operation {
 public:
  static constexpr char kName[] = "GroupNormalizationGradient";

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
};

// From x, mean, factor and dy to the gradient by gamma, Σ dy·x̂ over examples
// and positions; with `has_beta` to that by beta, Σ dy, as a second output.
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

// y. gamma and beta, where they are there, have the shape (columns).
Tensor GroupNormalization(const Tensor& x, const std::optional<Tensor>& gamma,
                          const std::optional<Tensor>& beta, int64_t groups,
                          double epsilon);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_GROUP_NORMALIZATION_H_
