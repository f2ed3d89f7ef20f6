#include "common/tensor/shape.h"

#include <glog/logging.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace paceline {

size_t SizeOf(DataType type) {
  switch (type) {
    case DataType::kUint8:
    case DataType::kBool:
      return 1;
    case DataType::kFloat16:
    case DataType::kBFloat16:
      return 2;
    case DataType::kInt32:
    case DataType::kFloat32:
      return 4;
    case DataType::kFloat64:
      return 8;
  }
  LOG(FATAL) << "unknown data type " << static_cast<int>(type);
}

const char* DataTypeName(DataType type) {
  switch (type) {
    case DataType::kUint8:
      return "uint8";
    case DataType::kInt32:
      return "int32";
    case DataType::kFloat32:
      return "float32";
    case DataType::kFloat64:
      return "float64";
    case DataType::kFloat16:
      return "float16";
    case DataType::kBFloat16:
      return "bfloat16";
    case DataType::kBool:
      return "bool";
  }
  LOG(FATAL) << "unknown data type " << static_cast<int>(type);
}

int64_t NumElements(absl::Span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    CHECK_GE(size, 0);
    CHECK(!__builtin_mul_overflow(count, size, &count))
        << "too many elements: " << ShapeToString(shape);
  }
  return count;
}

std::string ShapeToString(absl::Span<const int64_t> shape) {
  return absl::StrCat("(", absl::StrJoin(shape, ", "),
                      shape.size() == 1 ? ",)" : ")");
}

}  // namespace paceline
