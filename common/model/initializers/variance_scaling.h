// VarianceScaling and its six named cases: Glorot, He, LeCun.
#ifndef PACELINE_COMMON_MODEL_INITIALIZERS_VARIANCE_SCALING_H_
#define PACELINE_COMMON_MODEL_INITIALIZERS_VARIANCE_SCALING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/field_table.h"
#include "common/model/initializers/elementwise.h"

namespace paceline {

enum class FanMode { kIn, kOut, kAverage };
enum class Distribution { kTruncatedNormal, kUntruncatedNormal, kUniform };
absl::Span<const EnumName<FanMode>> EnumNames(FanMode);
absl::Span<const EnumName<Distribution>> EnumNames(Distribution);

// The variance is scale / n, where n is the fan selected by `mode`: fan_in and
// fan_out are the last two dimensions of the shape, times the product of the
// others.
class VarianceScaling : public ElementwiseInitializer<VarianceScaling> {
 public:
  // One table per class name. The named cases have only a seed.
  static const std::vector<FieldTable<VarianceScaling>>& Tables();
  // "GlorotUniform" and so on; CHECK-fails on another name.
  static VarianceScaling Named(absl::string_view class_name);

  absl::string_view class_name() const override { return table_name; }

  auto Elements(RandomKey key, absl::Span<const int64_t> shape) const {
    return [this, width = Width(shape), key = PhiloxKey(WithSeed(key, seed))](
               int64_t index) { return width * Sample(key, index); };
  }

  double scale = 1;
  FanMode mode = FanMode::kIn;
  Distribution distribution = Distribution::kTruncatedNormal;
  std::optional<int64_t> seed;
  // The class name in configs.
  std::string table_name = "VarianceScaling";

 private:
  // Standard deviation before truncation, or half the width of a uniform
  // distribution.
  double Width(absl::Span<const int64_t> shape) const;
  // A sample with Width 1.
  double Sample(uint64_t philox_key, int64_t index) const;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_INITIALIZERS_VARIANCE_SCALING_H_
