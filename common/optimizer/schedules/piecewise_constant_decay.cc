#include "common/optimizer/schedules/piecewise_constant_decay.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/config/field_table.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "common/optimizer/schedules/schedule_fields.h"

namespace paceline {
namespace {

absl::Status CheckPieces(const PiecewiseConstantDecay& decay,
                         const Path& path) {
  const std::vector<double>& boundaries = decay.boundaries;
  if (boundaries.empty()) {
    return ConfigError(path.Key("boundaries"), "expected at least 1 step");
  }
  if (decay.values.size() != boundaries.size() + 1) {
    return ConfigError(
        path.Key("values"),
        absl::StrCat("expected ", boundaries.size() + 1,
                     ", one more than boundaries, got ", decay.values.size()));
  }
  for (size_t i = 1; i < boundaries.size(); ++i) {
    if (boundaries[i] > boundaries[i - 1]) continue;
    return ConfigError(
        path.Key("boundaries").Index(i),
        absl::StrCat("expected more than the step before, ",
                     Excerpt(WriteSteps(boundaries[i - 1])), ", got ",
                     Excerpt(WriteSteps(boundaries[i]))));
  }
  return absl::OkStatus();
}

}  // namespace

const FieldTable<PiecewiseConstantDecay>& PiecewiseConstantDecay::Fields() {
  static const auto& table = *new FieldTable<PiecewiseConstantDecay>(
      kClassName, "A learning rate that changes at some steps.",
      {
          WrittenAs(
              [](const PiecewiseConstantDecay& decay) -> std::optional<Value> {
                Value::List steps;
                for (const double boundary : decay.boundaries) {
                  steps.push_back(WriteSteps(boundary));
                }
                return steps;
              },
              Required("boundaries", &PiecewiseConstantDecay::boundaries,
                       AtLeast(0),
                       "The last steps of all values but the last, "
                       "ascending.")),
          Required("values", &PiecewiseConstantDecay::values, AtLeast(0),
                   "The learning rates, one more than boundaries."),
          Optional("name", &PiecewiseConstantDecay::name,
                   "Name of the schedule."),
      },
      [] { return PiecewiseConstantDecay(); }, CheckPieces);
  return table;
}

double PiecewiseConstantDecay::At(int64_t iterations) const {
  const auto boundary = std::lower_bound(boundaries.begin(), boundaries.end(),
                                         static_cast<double>(iterations));
  return values[boundary - boundaries.begin()];
}

}  // namespace paceline
