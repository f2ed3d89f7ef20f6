// Keras' NonNeg, MaxNorm, UnitNorm and MinMaxNorm.
#ifndef PACELINE_COMMON_MODEL_CONSTRAINT_H_
#define PACELINE_COMMON_MODEL_CONSTRAINT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/model/axis_list.h"
#include "common/tensor/shape.h"

namespace paceline {

struct ClassReference;

// What a variable becomes at the end of each update
// (common/optimizer/constrain.h): either its negative elements become 0, or the
// norms over its axes `axis` come within bounds.
struct Constraint {
  // Norms come to `rate` · norm within the bounds + (1 - rate) · norm.
  double min_value = 0;
  double max_value = 1;
  double rate = 1;
  // Of the variable's shape; negative ones count from the end.
  AxisList axis = {0};
  // Keras' class name in configs; empty: null, no constraint.
  std::string class_name = "";

  bool is_none() const { return class_name.empty(); }
  // Whether it depends on more than each element.
  bool has_norms() const;

  // InvalidArgument unless a variable of this shape has the axes, each given
  // once.
  absl::Status CheckShape(const Shape& shape) const;
};

// Reads null, a name ("non_neg") or a Keras object; writes Keras' serialised
// form. See codec.h.
absl::Status ReadConfig(const Value& value, const Path& path, Constraint& out);
Value WriteConfig(const Constraint& constraint);
std::string ConfigType(const Constraint*);

// The references of all constraints, by class name.
std::vector<ClassReference> ConstraintReferences();

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_CONSTRAINT_H_
