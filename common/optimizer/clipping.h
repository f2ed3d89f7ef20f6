// Clipping of gradients before an update, as in Keras' optimizers:
//
//   clipvalue        g = min(max(g, -bound), bound)
//   clipnorm         g *= bound / max(‖g‖, bound), for each variable
//   global_clipnorm  the same, where ‖g‖ is over all variables together
//
// If the gradients of a variable are distributed over several processes, these
// sum their squared norms first, and exchange the sums.
#ifndef PACELINE_COMMON_OPTIMIZER_CLIPPING_H_
#define PACELINE_COMMON_OPTIMIZER_CLIPPING_H_

#include <optional>

#include "absl/types/span.h"

namespace paceline {

// A value type. At most one bound is set; bounds are positive.
struct Clipping {
  std::optional<double> value;
  std::optional<double> norm;
  std::optional<double> global_norm;

  bool is_active() const { return value || needs_norms(); }
  bool needs_norms() const { return norm || global_norm; }

  // Replaces Σ g² of each variable by the factor for its gradients.
  void ToFactors(absl::Span<double> squared_norms) const;

  // Clips gradients in place; `factor` is the one of their variable.
  void Clip(double factor, absl::Span<float> gradients) const;
  void Clip(double factor, absl::Span<double> gradients) const;
};

// Σ g², accumulated in float64.
double SquaredNorm(absl::Span<const float> gradients);
double SquaredNorm(absl::Span<const double> gradients);

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_CLIPPING_H_
