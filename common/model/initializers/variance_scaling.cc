#include "common/model/initializers/variance_scaling.h"

#include <algorithm>
#include <cmath>

#include "common/model/initializers/sampling.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Standard deviation of a standard normal truncated at ±2.
constexpr double kTruncatedStddev = 0.87962566103423978;

FieldTable<VarianceScaling> NamedTable(const char* class_name, const char* help,
                                       double scale, FanMode mode,
                                       Distribution distribution) {
  return FieldTable<VarianceScaling>(
      class_name, help,
      {Optional("seed", &VarianceScaling::seed, kSeedHelp),
       NotWritten(
           Only("input_axes", nullptr, "Axes that count for the fan in.")),
       NotWritten(
           Only("output_axes", nullptr, "Axes that count for the fan out."))},
      [=] {
        VarianceScaling named;
        named.scale = scale;
        named.mode = mode;
        named.distribution = distribution;
        named.table_name = class_name;
        return named;
      });
}

FieldTable<VarianceScaling> FullTable() {
  return FieldTable<VarianceScaling>(
      "VarianceScaling", "Variance scale / fan.",
      {Optional("seed", &VarianceScaling::seed, kSeedHelp),
       Optional("scale", &VarianceScaling::scale, Above(0), "Scale."),
       Optional("mode", &VarianceScaling::mode, "The fan that divides."),
       Optional("distribution", &VarianceScaling::distribution,
                "The distribution."),
       NotWritten(
           Only("input_axes", nullptr, "Axes that count for the fan in.")),
       NotWritten(
           Only("output_axes", nullptr, "Axes that count for the fan out."))});
}

}  // namespace

absl::Span<const EnumName<FanMode>> EnumNames(FanMode) {
  static constexpr EnumName<FanMode> kNames[] = {
      {FanMode::kIn, "fan_in"},
      {FanMode::kOut, "fan_out"},
      {FanMode::kAverage, "fan_avg"},
  };
  return kNames;
}

absl::Span<const EnumName<Distribution>> EnumNames(Distribution) {
  static constexpr EnumName<Distribution> kNames[] = {
      {Distribution::kTruncatedNormal, "truncated_normal"},
      {Distribution::kTruncatedNormal, "normal"},
      {Distribution::kUntruncatedNormal, "untruncated_normal"},
      {Distribution::kUniform, "uniform"},
  };
  return kNames;
}

const std::vector<FieldTable<VarianceScaling>>& VarianceScaling::Tables() {
  using enum Distribution;
  static const auto& tables = *new std::vector<FieldTable<VarianceScaling>>{
      FullTable(),
      NamedTable("GlorotUniform", "Uniform, variance 2 / (fan in + fan out).",
                 1, FanMode::kAverage, kUniform),
      NamedTable("GlorotNormal", "Normal, variance 2 / (fan in + fan out).", 1,
                 FanMode::kAverage, kTruncatedNormal),
      NamedTable("HeUniform", "Uniform, variance 2 / fan in.", 2, FanMode::kIn,
                 kUniform),
      NamedTable("HeNormal", "Normal, variance 2 / fan in.", 2, FanMode::kIn,
                 kTruncatedNormal),
      NamedTable("LecunUniform", "Uniform, variance 1 / fan in.", 1,
                 FanMode::kIn, kUniform),
      NamedTable("LecunNormal", "Normal, variance 1 / fan in.", 1, FanMode::kIn,
                 kTruncatedNormal),
  };
  return tables;
}

VarianceScaling VarianceScaling::Named(absl::string_view class_name) {
  for (const FieldTable<VarianceScaling>& table : Tables()) {
    if (table.name() == class_name) return *table.Read(nullptr, Path());
  }
  LOG(FATAL) << "no initializer " << class_name;
}

double VarianceScaling::Width(absl::Span<const int64_t> shape) const {
  double fan_in = 1;
  double fan_out = 1;
  if (shape.size() == 1) {
    fan_in = fan_out = static_cast<double>(shape[0]);
  } else if (shape.size() >= 2) {
    double receptive_field = 1;
    for (size_t i = 0; i + 2 < shape.size(); ++i) {
      receptive_field *= static_cast<double>(shape[i]);
    }
    fan_in = static_cast<double>(shape[shape.size() - 2]) * receptive_field;
    fan_out = static_cast<double>(shape[shape.size() - 1]) * receptive_field;
  }
  const double fan = mode == FanMode::kIn    ? fan_in
                     : mode == FanMode::kOut ? fan_out
                                             : (fan_in + fan_out) / 2;
  const double variance = scale / std::max(fan, 1.0);
  switch (distribution) {
    case Distribution::kTruncatedNormal:
      return std::sqrt(variance) / kTruncatedStddev;
    case Distribution::kUntruncatedNormal:
      return std::sqrt(variance);
    case Distribution::kUniform:
      return std::sqrt(3 * variance);
  }
  LOG(FATAL) << "no distribution " << static_cast<int>(distribution);
}

double VarianceScaling::Sample(uint64_t philox_key, int64_t index) const {
  switch (distribution) {
    case Distribution::kTruncatedNormal:
      return TruncatedNormalSample(philox_key, index);
    case Distribution::kUntruncatedNormal:
      return NormalSample(philox_key, index);
    case Distribution::kUniform:
      return 2 * UniformSample(philox_key, index) - 1;
  }
  LOG(FATAL) << "no distribution " << static_cast<int>(distribution);
}

}  // namespace paceline
