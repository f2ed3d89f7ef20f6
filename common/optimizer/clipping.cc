#include "common/optimizer/clipping.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace paceline {
namespace {

double Factor(double squared_norm, double bound) {
  return bound / std::max(std::sqrt(squared_norm), bound);
}

template <typename T>
void ClipTyped(const Clipping& clipping, double factor,
               absl::Span<T> gradients) {
  if (clipping.value) {
    const T bound = static_cast<T>(*clipping.value);
    for (T& g : gradients) g = std::min(std::max(g, -bound), bound);
  } else if (factor != 1) {
    for (T& g : gradients) g *= static_cast<T>(factor);
  }
}

template <typename T>
double SquaredNormTyped(absl::Span<const T> gradients) {
  const T* const g = gradients.data();
  const size_t count = gradients.size();
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < count; ++i) {
    sum += static_cast<double>(g[i]) * static_cast<double>(g[i]);
  }
  return sum;
}

}  // namespace

void Clipping::ToFactors(absl::Span<double> squared_norms) const {
  if (norm) {
    for (double& each : squared_norms) each = Factor(each, *norm);
    return;
  }
  double factor = 1;
  if (global_norm) {
    double sum = 0;
    for (const double each : squared_norms) sum += each;
    factor = Factor(sum, *global_norm);
  }
  std::fill(squared_norms.begin(), squared_norms.end(), factor);
}

void Clipping::Clip(double factor, absl::Span<float> gradients) const {
  ClipTyped(*this, factor, gradients);
}
void Clipping::Clip(double factor, absl::Span<double> gradients) const {
  ClipTyped(*this, factor, gradients);
}

double SquaredNorm(absl::Span<const float> gradients) {
  return SquaredNormTyped(gradients);
}
double SquaredNorm(absl::Span<const double> gradients) {
  return SquaredNormTyped(gradients);
}

}  // namespace paceline
