// The tensors of the reference device.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_ARRAY_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_ARRAY_H_

#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "common/operations/tensor_type.h"
#include "common/tensor/shape.h"
#include "glog/logging.h"

namespace paceline::reference {

// Calls `function` with a zero of the C++ type of float32, float64, int32 or
// bool (uint8_t). CHECK-fails for other types, which the reference does not
// support.
template <typename F>
void WithType(DataType type, F function) {
  switch (type) {
    case DataType::kBool:
      return function(uint8_t{0});
    case DataType::kInt32:
      return function(int32_t{0});
    case DataType::kFloat32:
      return function(float{0});
    case DataType::kFloat64:
      return function(double{0});
    default:
      LOG(FATAL) << "the reference device has no " << DataTypeName(type);
  }
}

// The same for floating-point types only.
template <typename F>
void WithRealType(DataType type, F function) {
  CHECK(type == DataType::kFloat32 || type == DataType::kFloat64)
      << DataTypeName(type);
  type == DataType::kFloat32 ? function(float{0}) : function(double{0});
}

// The same for numbers only.
template <typename F>
void WithNumberType(DataType type, F function) {
  type == DataType::kInt32 ? function(int32_t{0})
                           : WithRealType(type, function);
}

// Converts a number to an element; for bool: whether it is not 0.
template <typename T>
T ElementOf(double value) {
  if constexpr (std::is_same_v<T, uint8_t>) return value != 0;
  return static_cast<T>(value);
}

// An array in C order, initially zero.
class Array {
 public:
  explicit Array(op::TensorType type) : type_(std::move(type)) {
    WithType(type_.type, [this](auto zero) {
      values_ = std::vector<decltype(zero)>(
          static_cast<size_t>(NumElements(type_.shape)));
    });
  }

  const op::TensorType& type() const { return type_; }
  DataType data_type() const { return type_.type; }
  const Shape& shape() const { return type_.shape; }
  int64_t size() const { return NumElements(type_.shape); }

  // T is the C++ type of the elements.
  template <typename T>
  absl::Span<T> values() {
    return absl::MakeSpan(std::get<std::vector<T>>(values_));
  }
  template <typename T>
  absl::Span<const T> values() const {
    return std::get<std::vector<T>>(values_);
  }

 private:
  op::TensorType type_;
  std::variant<std::vector<uint8_t>, std::vector<int32_t>, std::vector<float>,
               std::vector<double>>
      values_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_ARRAY_H_
