// The config keys of a layer's variables, for its field table.
#ifndef PACELINE_COMMON_MODEL_LAYERS_VARIABLE_FIELDS_H_
#define PACELINE_COMMON_MODEL_LAYERS_VARIABLE_FIELDS_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/config/field_table.h"
#include "common/model/initializer.h"
#include "common/model/regularizer.h"

namespace paceline {

// A variable of layer L.
template <typename L>
struct VariableKeys {
  // "kernel" of kernel_initializer, kernel_regularizer and kernel_constraint.
  std::string prefix;
  // For people: "the kernel".
  std::string meaning;
  std::shared_ptr<const Initializer> L::*initializer;
  // Null: the variable has an initializer alone.
  Regularizer L::*regularizer = nullptr;
};

// In Keras' order: the initializers of all, their regularizers, and their
// constraints, of which none is supported. `activity_regularizer` stands before
// the constraints.
template <typename L>
std::vector<Field<L>> VariableFields(
    const std::vector<VariableKeys<L>>& variables,
    std::optional<FixedField> activity_regularizer = std::nullopt) {
  std::vector<Field<L>> initializers;
  std::vector<Field<L>> regularizers;
  std::vector<Field<L>> constraints;
  for (const VariableKeys<L>& each : variables) {
    initializers.push_back(Optional(each.prefix + "_initializer",
                                    each.initializer,
                                    "First values of " + each.meaning + "."));
    if (each.regularizer == nullptr) continue;
    regularizers.push_back(Optional(each.prefix + "_regularizer",
                                    each.regularizer,
                                    "Penalty on " + each.meaning + "."));
    constraints.push_back(Only(each.prefix + "_constraint", nullptr,
                               "Bounds of " + each.meaning + "."));
  }
  if (activity_regularizer) regularizers.push_back(*activity_regularizer);
  return Joined<L>({std::move(initializers), std::move(regularizers),
                    std::move(constraints)});
}

// A penalty on the output of a layer: none.
inline FixedField ActivityRegularizerField() {
  return Only("activity_regularizer", nullptr, "Penalty on the output.");
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_VARIABLE_FIELDS_H_
