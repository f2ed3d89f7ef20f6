// Gradients are clipped before an update, as Keras' optimizers do it:
//
//   clipvalue        g = min(max(g, -bound), bound)
//   clipnorm         g *= bound / max(‖g‖, bound), each variable by itself
//   global_clipnorm  the same, where ‖g‖ is that of all variables together
//
// Gradients of one variable may lie in several places: who holds them adds up
// their squared norms first, and exchanges the sums.
#ifndef PACELINE_COMMON_OPTIMIZER_CLIPPING_H_
#define PACELINE_COMMON_OPTIMIZER_CLIPPING_H_

#include <optional>

#include "absl/types/span.h"

namespace paceline {

// A value. At most one bound is set; all are above 0.
struct Clipping {
  std::optional<double> value;
  std::optional<double> norm;
  std::optional<double> global_norm;

  bool is_active() const { return value || needs_norms(); }
  bool needs_norms() const { return norm || global_norm; }

  // Replaces Σ g² of each variable by the factor of its gradients.
  void ToFactors(absl::Span<double> squared_norms) const;

  // Clips gradients in place; `factor` is that of their variable.
  void Clip(double factor, absl::Span<float> gradients) const;
  void Clip(double factor, absl::Span<double> gradients) const;
};

// Σ g², added up in float64.
double SquaredNorm(absl::Span<const float> gradients);
double SquaredNorm(absl::Span<const double> gradients);

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_CLIPPING_H_
