// Operators of Keras, such as x + y and 2 * x, which are no layers there.
//
// The same layers compute them that Keras has for it: Add, Multiply and
// Subtract of two inputs, and Rescaling by a number. But an operator carries no
// mask on, where these layers do. So a layer that stands for an operator is
// marked: in a job by `unmasked: true` beside it, in a model's tree by
// ModelTree::Child::is_unmasked. Keras' files have it as the operation that it
// is.
#ifndef PACELINE_COMMON_MODEL_KERAS_OPERATOR_H_
#define PACELINE_COMMON_MODEL_KERAS_OPERATOR_H_

#include <optional>
#include <string>

#include "common/config/keras_object.h"
#include "common/model/model_tree.h"

namespace paceline {

struct KerasOperator {
  // The class of Keras' operation, such as "Add".
  std::string class_name;
  // The operand that is a number; nullopt: both are tensors.
  std::optional<double> number = std::nullopt;
  bool number_is_left = false;
};

// The layer that computes an operator; nullopt: none does.
std::optional<KerasObject> LayerOf(const KerasOperator& keras_operator);

// The operator that a child of a model stands for; nullopt: it is a layer or a
// model.
std::optional<KerasOperator> OperatorOf(const ModelTree::Child& child);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_KERAS_OPERATOR_H_
