#include "common/model/keras_operator.h"

#include "absl/strings/string_view.h"
#include "common/config/value.h"
#include "common/model/layers/add.h"
#include "common/model/layers/multiply.h"
#include "common/model/layers/rescaling.h"
#include "common/model/layers/subtract.h"

namespace paceline {
namespace {

// Whether it is an operation of two tensors, which has the name of its layer.
bool IsOfTwoTensors(absl::string_view class_name) {
  return class_name == Add::kClassName || class_name == Multiply::kClassName ||
         class_name == Subtract::kClassName;
}

}  // namespace

std::optional<KerasObject> LayerOf(const KerasOperator& keras_operator) {
  const std::string& name = keras_operator.class_name;
  if (!keras_operator.number) {
    return IsOfTwoTensors(name) ? std::optional(KerasObject{name})
                                : std::nullopt;
  }
  const double number = *keras_operator.number;
  const bool number_is_left = keras_operator.number_is_left;
  double scale = 1;
  double offset = 0;
  if (name == Add::kClassName) {
    offset = number;
  } else if (name == Multiply::kClassName) {
    scale = number;
  } else if (name == Subtract::kClassName) {
    scale = number_is_left ? -1 : 1;
    offset = number_is_left ? number : -number;
  } else if ((name == "TrueDivide" || name == "Divide") && !number_is_left &&
             number != 0) {
    scale = 1 / number;
  } else {
    return std::nullopt;
  }
  return KerasObject{Rescaling::kClassName,
                     Value::Map{{"scale", scale}, {"offset", offset}}};
}

std::optional<KerasOperator> OperatorOf(const ModelTree::Child& child) {
  if (!child.is_unmasked || child.layer == nullptr || child.callee >= 0 ||
      !child.layer->activity_regularizer.class_name.empty()) {
    return std::nullopt;
  }
  if (IsOfTwoTensors(child.class_name()) && child.inputs.size() == 2) {
    return KerasOperator{std::string(child.class_name())};
  }
  const auto* const rescaling = dynamic_cast<const Rescaling*>(child.layer);
  if (rescaling == nullptr || rescaling->scale.values.size() != 1 ||
      rescaling->offset.values.size() != 1) {
    return std::nullopt;
  }
  const double scale = rescaling->scale.values[0];
  const double offset = rescaling->offset.values[0];
  if (offset == 0) return KerasOperator{Multiply::kClassName, scale};
  if (scale == 1) return KerasOperator{Add::kClassName, offset};
  if (scale != -1) return std::nullopt;
  return KerasOperator{Subtract::kClassName, offset, /*number_is_left=*/true};
}

}  // namespace paceline
