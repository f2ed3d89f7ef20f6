// Conversion to another element type.
#ifndef PACELINE_COMMON_OPERATIONS_CAST_H_
#define PACELINE_COMMON_OPERATIONS_CAST_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// Reals are rounded to the nearest real, towards 0 to an integer. Bool gives 0
// and 1; a number that is not 0 gives true. The gradient passes from real to
// real.
class CastOperation final : public Operation {
 public:
  static constexpr char kName[] = "Cast";

  explicit CastOperation(DataType type) : type_(type) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  DataType type() const { return type_; }

 private:
  DataType type_;
};

// The tensor itself if it has the type.
Tensor Cast(const Tensor& x, DataType type);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_CAST_H_
