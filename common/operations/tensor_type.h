// Element type and shape of a tensor in a function.
#ifndef PACELINE_COMMON_OPERATIONS_TENSOR_TYPE_H_
#define PACELINE_COMMON_OPERATIONS_TENSOR_TYPE_H_

#include <string>

#include "common/tensor/shape.h"

namespace paceline::op {

// Shapes include the batch axis, since a function is made for one batch size.
struct TensorType {
  DataType type = DataType::kFloat32;
  Shape shape;

  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// Whether the type is floating-point, and so has gradients.
inline bool IsReal(DataType type) {
  return type == DataType::kFloat16 || type == DataType::kBFloat16 ||
         type == DataType::kFloat32 || type == DataType::kFloat64;
}

// "float32 (28, 28, 1)".
std::string ToString(const TensorType& type);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_TENSOR_TYPE_H_
