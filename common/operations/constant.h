// A number that is known when the function is made.
#ifndef PACELINE_COMMON_OPERATIONS_CONSTANT_H_
#define PACELINE_COMMON_OPERATIONS_CONSTANT_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

class ConstantOperation final : public Operation {
 public:
  static constexpr char kName[] = "Constant";

  ConstantOperation(DataType type, double value) : type_(type), value_(value) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;

  double value() const { return value_; }

 private:
  DataType type_;
  double value_;
};

// A tensor of shape (), which maps broadcast. Of kBool: whether `value` is not
// 0.
Tensor Constant(Function& function, DataType type, double value);

// Of the type and to be used beside `like`.
Tensor ConstantLike(const Tensor& like, double value);

// A whole tensor of one value.
Tensor Full(Function& function, const TensorType& type, double value);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_CONSTANT_H_
