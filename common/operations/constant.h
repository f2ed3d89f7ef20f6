// Constants of a function.
#ifndef PACELINE_COMMON_OPERATIONS_CONSTANT_H_
#define PACELINE_COMMON_OPERATIONS_CONSTANT_H_

#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

class ConstantOperation final : public Operation {
 public:
  static constexpr char kName[] = "Constant";

  // `values` in C order.
  ConstantOperation(TensorType type, std::vector<double> values)
      : type_(std::move(type)), values_(std::move(values)) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;

  const std::vector<double>& values() const { return values_; }

 private:
  TensorType type_;
  std::vector<double> values_;
};

// A scalar of shape (), to be broadcast. For kBool: whether `value` is not 0.
Tensor Constant(Function& function, DataType type, double value);

// A tensor with one axis.
Tensor Constants(Function& function, DataType type, std::vector<double> values);

// A scalar of the type of `like`, in its function.
Tensor ConstantLike(const Tensor& like, double value);

// A tensor whose elements all have one value.
Tensor Full(Function& function, const TensorType& type, double value);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_CONSTANT_H_
