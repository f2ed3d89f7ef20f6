// Looks up rows of a table by ids, and the gradient of that.
#ifndef PACELINE_COMMON_OPERATIONS_GATHER_ROWS_H_
#define PACELINE_COMMON_OPERATIONS_GATHER_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// From a table (rows, row shape...) and int32 ids of any shape to (shape of
// ids..., row shape...). Ids must be in [0, rows): devices check ids in a batch
// before they use them.
class GatherRowsOperation final : public Operation {
 public:
  static constexpr char kName[] = "GatherRows";

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;
};

// From ids and values (shape of ids..., row shape...) to a table (rows, row
// shape...): each row is the sum of the values with its id, added in their
// order, so a repeat gives the same bits. Supports all number types, so it can
// also compute histograms.
class SumRowsOperation final : public Operation {
 public:
  static constexpr char kName[] = "SumRows";

  explicit SumRowsOperation(int64_t rows) : rows_(rows) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

 private:
  int64_t rows_;
};

inline Tensor GatherRows(const Tensor& table, const Tensor& ids) {
  return AddCall(GatherRowsOperation(), {table, ids});
}
inline Tensor SumRows(const Tensor& ids, const Tensor& values, int64_t rows) {
  return AddCall(SumRowsOperation(rows), {ids, values});
}

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_GATHER_ROWS_H_
