// Conversion to another element type.
#ifndef PACELINE_COMMON_OPERATIONS_CAST_H_
#define PACELINE_COMMON_OPERATIONS_CAST_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// Floating-point values are rounded to the nearest value of a floating-point
// type, and towards 0 for an integer type. Bool gives 0 and 1; to bool, nonzero
// gives true. The gradient only passes between floating-point types.
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

// Returns x itself if it already has the type.
Tensor Cast(const Tensor& x, DataType type);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_CAST_H_
