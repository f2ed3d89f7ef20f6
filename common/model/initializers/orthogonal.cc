#include "common/model/initializers/orthogonal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "common/model/initializers/elementwise.h"
#include "common/model/initializers/sampling.h"
#include "common/tensor/shape.h"

namespace paceline {
namespace {

using Vector = std::vector<double>;

// No loop here is compiled for the vectors of each machine (simd.h), so that
// tasks on different machines have the same bits.

// Sums of each eighth element, added in a fixed order.
double Dot(const Vector& a, const Vector& b) {
  constexpr size_t kSums = 8;
  std::array<double, kSums> sums = {};
  const size_t in_eights = a.size() - a.size() % kSums;
  for (size_t i = 0; i < in_eights; i += kSums) {
    for (size_t k = 0; k < kSums; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (size_t i = in_eights; i < a.size(); ++i) {
    sums[i - in_eights] += a[i] * b[i];
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// Subtracts the part of `vector` along `direction`, which has the norm 1.
void SubtractPart(const Vector& direction, Vector& vector) {
  const double part = Dot(vector, direction);
  for (size_t i = 0; i < vector.size(); ++i) vector[i] -= part * direction[i];
}

// Orthonormal vectors of this size, in a uniformly random position. Subtracts
// from each normal vector its part in the span of those before (modified
// Gram-Schmidt), and so gives the Q whose R has a positive diagonal.
std::vector<Vector> OrthonormalVectors(uint64_t philox_key, int64_t count,
                                       int64_t size) {
  std::vector<Vector> vectors;
  for (int64_t i = 0; i < count; ++i) {
    Vector vector;
    for (int64_t k = 0; k < size; ++k) {
      vector.push_back(NormalSample(philox_key, i * size + k));
    }
    for (const Vector& before : vectors) SubtractPart(before, vector);
    const double norm = std::sqrt(Dot(vector, vector));
    for (double& each : vector) each /= norm;
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

}  // namespace

const FieldTable<Orthogonal>& Orthogonal::Fields() {
  static const auto& table = *new FieldTable<Orthogonal>(
      "Orthogonal", "Random with orthonormal rows or columns.",
      {Optional("seed", &Orthogonal::seed, kSeedHelp),
       Optional("gain", &Orthogonal::gain, "Factor of the matrix.")});
  return table;
}

absl::Status Orthogonal::CheckShape(absl::Span<const int64_t> shape) const {
  if (shape.size() >= 2) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("an Orthogonal initializer needs a variable with 2 or more "
                   "axes; this one has the shape ",
                   ShapeToString(Shape(shape.begin(), shape.end()))));
}

template <typename T>
void Orthogonal::FillAny(RandomKey key, absl::Span<const int64_t> shape,
                         int64_t begin, absl::Span<T> out) const {
  const int64_t columns = shape.back();
  const int64_t rows = NumElements(shape) / columns;
  const std::vector<Vector> vectors =
      OrthonormalVectors(PhiloxKey(WithSeed(key, seed)),
                         std::min(rows, columns), std::max(rows, columns));
  for (T& value : out) {
    const int64_t row = begin / columns;
    const int64_t column = begin % columns;
    value = static_cast<T>(
        gain * (rows < columns ? vectors[row][column] : vectors[column][row]));
    ++begin;
  }
}

void Orthogonal::Fill(RandomKey key, absl::Span<const int64_t> shape,
                      int64_t begin, absl::Span<float> out) const {
  FillAny(key, shape, begin, out);
}

void Orthogonal::Fill(RandomKey key, absl::Span<const int64_t> shape,
                      int64_t begin, absl::Span<double> out) const {
  FillAny(key, shape, begin, out);
}

}  // namespace paceline
