#include "common/model/initializers/random.h"

namespace paceline {

const FieldTable<RandomUniform>& RandomUniform::Fields() {
  static const auto& table = *new FieldTable<RandomUniform>(
      "RandomUniform", "Uniform in [minval, maxval).",
      {Optional("seed", &RandomUniform::seed, kSeedHelp),
       Optional("minval", &RandomUniform::minval, "Lower bound."),
       Optional("maxval", &RandomUniform::maxval, "Upper bound.")});
  return table;
}

const FieldTable<RandomNormal>& RandomNormal::Fields() {
  static const auto& table = *new FieldTable<RandomNormal>(
      "RandomNormal", "Normal.",
      {Optional("seed", &RandomNormal::seed, kSeedHelp),
       Optional("mean", &RandomNormal::mean, "Mean."),
       Optional("stddev", &RandomNormal::stddev, AtLeast(0),
                "Standard deviation.")});
  return table;
}

const FieldTable<TruncatedNormal>& TruncatedNormal::Fields() {
  static const auto& table = *new FieldTable<TruncatedNormal>(
      "TruncatedNormal", "Normal, cut at two standard deviations.",
      {Optional("seed", &TruncatedNormal::seed, kSeedHelp),
       Optional("mean", &TruncatedNormal::mean, "Mean."),
       Optional("stddev", &TruncatedNormal::stddev, AtLeast(0),
                "Standard deviation before the cut.")});
  return table;
}

}  // namespace paceline
