#include "common/model/initializers/random.h"

namespace paceline {

const FieldTable<RandomUniform>& RandomUniform::Fields() {
  static const auto& table = *new FieldTable<RandomUniform>(
      "RandomUniform", "Uniform in [minval, maxval).",
      {Optional("minval", &RandomUniform::minval, "Lower bound."),
       Optional("maxval", &RandomUniform::maxval, "Upper bound."),
       Optional("seed", &RandomUniform::seed, kSeedHelp)});
  return table;
}

const FieldTable<RandomNormal>& RandomNormal::Fields() {
  static const auto& table = *new FieldTable<RandomNormal>(
      "RandomNormal", "Normal.",
      {Optional("mean", &RandomNormal::mean, "Mean."),
       Optional("stddev", &RandomNormal::stddev, AtLeast(0),
                "Standard deviation."),
       Optional("seed", &RandomNormal::seed, kSeedHelp)});
  return table;
}

const FieldTable<TruncatedNormal>& TruncatedNormal::Fields() {
  static const auto& table = *new FieldTable<TruncatedNormal>(
      "TruncatedNormal", "Normal, cut at two standard deviations.",
      {Optional("mean", &TruncatedNormal::mean, "Mean."),
       Optional("stddev", &TruncatedNormal::stddev, AtLeast(0),
                "Standard deviation before the cut."),
       Optional("seed", &TruncatedNormal::seed, kSeedHelp)});
  return table;
}

}  // namespace paceline
