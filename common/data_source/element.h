// Values in the types in which data files store them.
#ifndef PACELINE_COMMON_DATA_SOURCE_ELEMENT_H_
#define PACELINE_COMMON_DATA_SOURCE_ELEMENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/tensor/shape.h"

namespace paceline {

// Types of stored values, in the machine's byte order. These are more than the
// types in which devices compute; values are converted when a batch is made.
enum class ElementType {
  kUint8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat32,
  kFloat64
};

// Bytes of one element.
size_t SizeOf(ElementType type);

// "uint8".
const char* ElementTypeName(ElementType type);

// A view of consecutive values.
struct Elements {
  ElementType type = ElementType::kUint8;
  const std::byte* data = nullptr;
  int64_t count = 0;
};

// An array in C order.
struct StoredArray {
  ElementType type = ElementType::kUint8;
  Shape shape;
  std::unique_ptr<std::byte[]> data;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_ELEMENT_H_
