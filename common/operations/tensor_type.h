// Element type and shape of a tensor that flows between operations.
#ifndef PACELINE_COMMON_OPERATIONS_TENSOR_TYPE_H_
#define PACELINE_COMMON_OPERATIONS_TENSOR_TYPE_H_

#include <string>

#include "common/tensor/shape.h"

namespace paceline::op {

// A function is made for one batch size, so shapes have the batch in them.
struct TensorType {
  DataType type = DataType::kFloat32;
  Shape shape;

  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// Whether it has gradients.
inline bool IsReal(DataType type) {
  return type == DataType::kFloat16 || type == DataType::kBFloat16 ||
         type == DataType::kFloat32 || type == DataType::kFloat64;
}

// "float32 (28, 28, 1)".
std::string ToString(const TensorType& type);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_TENSOR_TYPE_H_
