// 0, 1, 2, …
#ifndef PACELINE_COMMON_OPERATIONS_IOTA_H_
#define PACELINE_COMMON_OPERATIONS_IOTA_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"
#include "common/operations/tensor_type.h"
#include "glog/logging.h"

namespace paceline::op {

// The numbers 0, 1, …, size - 1, of one type.
class IotaOperation final : public Operation {
 public:
  static constexpr char kName[] = "Iota";

  IotaOperation(int64_t size, DataType type) : size_(size), type_(type) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override {
    CHECK(inputs.empty());
    CHECK(IsReal(type_) || type_ == DataType::kInt32) << DataTypeName(type_);
    return {{type_, {size_}}};
  }

  DataType type() const { return type_; }

 private:
  int64_t size_;
  DataType type_;
};

inline Tensor Iota(Function& function, int64_t size, DataType type) {
  return AddSource(function, IotaOperation(size, type));
}

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_IOTA_H_
