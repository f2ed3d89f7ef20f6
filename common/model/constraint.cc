#include "common/model/constraint.h"

#include <cstdint>
#include <set>

#include "absl/strings/str_cat.h"
#include "common/config/field_table.h"
#include "common/config/path.h"
#include "common/model/class_tables.h"

namespace paceline {
namespace {

constexpr char kNonNeg[] = "NonNeg";

Constraint ConstraintNamed(const char* class_name, double min_value,
                           double max_value) {
  Constraint constraint;
  constraint.min_value = min_value;
  constraint.max_value = max_value;
  constraint.class_name = class_name;
  return constraint;
}

absl::Status CheckNormBounds(const Constraint& constraint, const Path& path) {
  if (constraint.min_value <= constraint.max_value) return absl::OkStatus();
  return ConfigError(
      path.Key("min_value"),
      absl::StrCat("must be at most max_value, ", constraint.max_value,
                   ", got ", constraint.min_value));
}

ClassTables<Constraint> MakeConstraintTables() {
  const Field<Constraint> axis =
      Optional("axis", &Constraint::axis, "Axes over which norms are taken.");
  const Field<Constraint> max_value =
      Optional("max_value", &Constraint::max_value, AtLeast(0), "Upper bound.");
  return {
      FieldTable<Constraint>("MaxNorm", "Norms are at most max_value.",
                             {max_value, axis},
                             [] { return ConstraintNamed("MaxNorm", 0, 2); }),
      FieldTable<Constraint>(
          "MinMaxNorm", "Norms are from min_value to max_value.",
          {Optional("min_value", &Constraint::min_value, AtLeast(0),
                    "Lower bound."),
           max_value,
           Optional("rate", &Constraint::rate, Between(0, 1),
                    "How far a step moves a norm to its bound."),
           axis},
          [] { return ConstraintNamed("MinMaxNorm", 0, 1); }, CheckNormBounds),
      FieldTable<Constraint>(kNonNeg, "Negative elements become 0.", {},
                             [] { return ConstraintNamed(kNonNeg, 0, 1); }),
      FieldTable<Constraint>("UnitNorm", "Norms are 1.", {axis},
                             [] { return ConstraintNamed("UnitNorm", 1, 1); }),
  };
}

const ClassTables<Constraint>& ConstraintTables() {
  static const auto& tables =
      *new ClassTables<Constraint>(MakeConstraintTables());
  return tables;
}

}  // namespace

bool Constraint::has_norms() const {
  return !is_none() && class_name != kNonNeg;
}

absl::Status Constraint::CheckShape(const Shape& shape) const {
  if (!has_norms()) return absl::OkStatus();
  const auto rank = static_cast<int64_t>(shape.size());
  std::set<int64_t> seen;
  for (const int64_t each : axis) {
    if (each >= -rank && each < rank &&
        seen.insert(each < 0 ? each + rank : each).second) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        class_name, ": expected different axes from -", rank, " to ", rank - 1,
        " of the shape ", ShapeToString(shape), ", got ", each));
  }
  if (!axis.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(class_name, ": expected an axis, got an empty list"));
}

absl::Status ReadConfig(const Value& value, const Path& path, Constraint& out) {
  return ReadByClass(ConstraintTables(), "constraint", value, path, out);
}

Value WriteConfig(const Constraint& constraint) {
  return WriteByClass(ConstraintTables(), "keras.constraints", constraint);
}

std::string ConfigType(const Constraint* /*constraint*/) {
  return "constraint or null";
}

std::vector<ClassReference> ConstraintReferences() {
  return ReferencesOfClasses(ConstraintTables());
}

}  // namespace paceline
