// RandomUniform, RandomNormal, TruncatedNormal.
#ifndef PACELINE_COMMON_MODEL_INITIALIZERS_RANDOM_H_
#define PACELINE_COMMON_MODEL_INITIALIZERS_RANDOM_H_

#include <cstdint>
#include <optional>

#include "common/config/field_table.h"
#include "common/model/initializers/elementwise.h"
#include "common/model/initializers/sampling.h"

namespace paceline {

// Uniform in [minval, maxval).
class RandomUniform : public ElementwiseInitializer<RandomUniform> {
 public:
  static const FieldTable<RandomUniform>& Fields();
  absl::string_view class_name() const override { return Fields().name(); }
  auto Elements(RandomKey key, absl::Span<const int64_t>) const {
    return [this, key = PhiloxKey(WithSeed(key, seed))](int64_t index) {
      return minval + (maxval - minval) * UniformSample(key, index);
    };
  }

  double minval = -0.05;
  double maxval = 0.05;
  std::optional<int64_t> seed;
};

class RandomNormal : public ElementwiseInitializer<RandomNormal> {
 public:
  static const FieldTable<RandomNormal>& Fields();
  absl::string_view class_name() const override { return Fields().name(); }
  auto Elements(RandomKey key, absl::Span<const int64_t>) const {
    return [this, key = PhiloxKey(WithSeed(key, seed))](int64_t index) {
      return mean + stddev * NormalSample(key, index);
    };
  }

  double mean = 0;
  double stddev = 0.05;
  std::optional<int64_t> seed;
};

// Normal; values more than 2 `stddev` from the mean are redrawn.
class TruncatedNormal : public ElementwiseInitializer<TruncatedNormal> {
 public:
  static const FieldTable<TruncatedNormal>& Fields();
  absl::string_view class_name() const override { return Fields().name(); }
  auto Elements(RandomKey key, absl::Span<const int64_t>) const {
    return [this, key = PhiloxKey(WithSeed(key, seed))](int64_t index) {
      return mean + stddev * TruncatedNormalSample(key, index);
    };
  }

  double mean = 0;
  double stddev = 0.05;
  std::optional<int64_t> seed;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_INITIALIZERS_RANDOM_H_
