// Orthogonal matrices.
#ifndef PACELINE_COMMON_MODEL_INITIALIZERS_ORTHOGONAL_H_
#define PACELINE_COMMON_MODEL_INITIALIZERS_ORTHOGONAL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/config/field_table.h"
#include "common/model/initializer.h"

namespace paceline {

// `gain` times a matrix that is drawn uniformly among those with orthonormal
// rows, if it has more columns than rows, or else columns. All axes but the
// last are rows. As in Keras: the Q of a matrix of normal numbers, with signs
// such that the diagonal of R is positive.
class Orthogonal : public Initializer {
 public:
  static const FieldTable<Orthogonal>& Fields();

  absl::string_view class_name() const override { return Fields().name(); }
  // InvalidArgument if there are less than two axes.
  absl::Status CheckShape(absl::Span<const int64_t> shape) const override;
  bool computes_whole() const override { return true; }
  void Fill(RandomKey key, absl::Span<const int64_t> shape, int64_t begin,
            absl::Span<float> out) const override;
  void Fill(RandomKey key, absl::Span<const int64_t> shape, int64_t begin,
            absl::Span<double> out) const override;

  double gain = 1;
  std::optional<int64_t> seed;

 private:
  template <typename T>
  void FillAny(RandomKey key, absl::Span<const int64_t> shape, int64_t begin,
               absl::Span<T> out) const;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_INITIALIZERS_ORTHOGONAL_H_
