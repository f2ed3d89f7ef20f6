// Shapes and element types.
#ifndef PACELINE_COMMON_TENSOR_SHAPE_H_
#define PACELINE_COMMON_TENSOR_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace paceline {

// Sizes of the dimensions, outermost first (C order). Shapes of a model's
// tensors exclude the batch axis unless a comment says otherwise.
using Shape = std::vector<int64_t>;

enum class DataType {
  kUint8,
  kInt32,
  kFloat32,
  kFloat64,
  kFloat16,
  kBFloat16,
  kBool
};

// Bytes of one element.
size_t SizeOf(DataType type);

// "float32".
const char* DataTypeName(DataType type);

template <typename T>
struct DataTypeOf;
template <>
struct DataTypeOf<float> {
  static constexpr DataType kValue = DataType::kFloat32;
};
template <>
struct DataTypeOf<double> {
  static constexpr DataType kValue = DataType::kFloat64;
};

// Product of the dimensions; 1 for a scalar. CHECK-fails on a negative
// dimension and on overflow; shapes from outside are checked against limits.h
// when they are read.
int64_t NumElements(absl::Span<const int64_t> shape);

// "(28, 28, 1)".
std::string ShapeToString(absl::Span<const int64_t> shape);

}  // namespace paceline

#endif  // PACELINE_COMMON_TENSOR_SHAPE_H_
