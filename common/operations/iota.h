// 0, 1, 2, …
#ifndef PACELINE_COMMON_OPERATIONS_IOTA_H_
#define PACELINE_COMMON_OPERATIONS_IOTA_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"
#include "glog/logging.h"

namespace paceline::op {

// So many int32 of shape (size).
class IotaOperation final : public Operation {
 public:
  static constexpr char kName[] = "Iota";

  explicit IotaOperation(int64_t size) : size_(size) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override {
    CHECK(inputs.empty());
    return {{DataType::kInt32, {size_}}};
  }

 private:
  int64_t size_;
};

inline Tensor Iota(Function& function, int64_t size) {
  return AddSource(function, IotaOperation(size));
}

// From int32 ids of any shape to (shape..., size), of bool: whether the last
// index is the id.
Tensor IsClass(const Tensor& ids, int64_t size);

// From int32 ids of any shape to (shape..., size), with 1 where the last index
// is the id and 0 elsewhere; an id outside of [0, size) gives zeros.
Tensor OneHot(const Tensor& ids, int64_t size, DataType type);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_IOTA_H_
