// Values as data files store them.
#ifndef PACELINE_COMMON_DATA_SOURCE_ELEMENT_H_
#define PACELINE_COMMON_DATA_SOURCE_ELEMENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/tensor/shape.h"

namespace paceline {

// Types of stored values, in the byte order of the machine. More than a device
// computes in: examples keep their type until a batch is made of them.
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

// Consecutive values that somebody else owns.
struct Elements {
  ElementType type = ElementType::kUint8;
  const std::byte* data = nullptr;
  int64_t count = 0;
};

// Values with a shape, in C order.
struct StoredArray {
  ElementType type = ElementType::kUint8;
  Shape shape;
  std::unique_ptr<std::byte[]> data;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_ELEMENT_H_
