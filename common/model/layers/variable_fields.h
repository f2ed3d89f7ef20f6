// Config keys of a layer's variables, for field tables.
#ifndef PACELINE_COMMON_MODEL_LAYERS_VARIABLE_FIELDS_H_
#define PACELINE_COMMON_MODEL_LAYERS_VARIABLE_FIELDS_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/config/field_table.h"
#include "common/model/constraint.h"
#include "common/model/initializer.h"
#include "common/model/regularizer.h"

namespace paceline {

// The keys of a variable of layer L.
template <typename L>
struct VariableKeys {
  // "kernel" for kernel_initializer, kernel_regularizer and kernel_constraint.
  std::string prefix;
  // For help texts: "the kernel".
  std::string meaning;
  std::shared_ptr<const Initializer> L::*initializer;
  // Null: the variable has only an initializer.
  Regularizer L::*regularizer = nullptr;
  Constraint L::*constraint = nullptr;
};

// In Keras' order: all initializers, `behind_initializers`, regularizers,
// `activity_regularizer` if the class writes that itself, and constraints.
template <typename L>
std::vector<Field<L>> VariableFields(
    const std::vector<VariableKeys<L>>& variables,
    std::optional<Field<L>> activity_regularizer = std::nullopt,
    std::vector<Field<L>> behind_initializers = {}) {
  std::vector<Field<L>> initializers;
  std::vector<Field<L>> regularizers;
  std::vector<Field<L>> constraints;
  for (const VariableKeys<L>& each : variables) {
    Field<L> initializer =
        Optional(each.prefix + "_initializer", each.initializer,
                 "First values of " + each.meaning + ".");
    initializer.info.default_text =
        std::string((L().*each.initializer)->class_name());
    initializers.push_back(std::move(initializer));
    if (each.regularizer == nullptr) continue;
    regularizers.push_back(Optional(each.prefix + "_regularizer",
                                    each.regularizer,
                                    "Penalty on " + each.meaning + "."));
    constraints.push_back(Optional(each.prefix + "_constraint", each.constraint,
                                   "Bounds of " + each.meaning + "."));
  }
  if (activity_regularizer) {
    regularizers.push_back(*std::move(activity_regularizer));
  }
  return Joined<L>({std::move(initializers), std::move(behind_initializers),
                    std::move(regularizers), std::move(constraints)});
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_VARIABLE_FIELDS_H_
