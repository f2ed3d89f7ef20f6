// Keras' naming conventions.
#ifndef PACELINE_COMMON_MODEL_KERAS_NAMES_H_
#define PACELINE_COMMON_MODEL_KERAS_NAMES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace paceline {

// "MaxPooling2D" as "max_pooling2d", "ReLU" as "re_lu".
std::string ToSnakeCase(absl::string_view class_name);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_KERAS_NAMES_H_
