#include "common/operations/gather_rows.h"

#include <algorithm>

#include "glog/logging.h"

namespace paceline::op {

std::vector<TensorType> GatherRowsOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const TensorType& table = inputs[0];
  const TensorType& ids = inputs[1];
  CHECK(ids.type == DataType::kInt32 && !table.shape.empty())
      << ToString(ids) << " of " << ToString(table);
  Shape shape = ids.shape;
  shape.insert(shape.end(), table.shape.begin() + 1, table.shape.end());
  return {{table.type, shape}};
}

Gradients GatherRowsOperation::AddGradient(const CallGradient& call) const {
  Gradients gradients(2);
  gradients[0] = SumRows(call.inputs[1], *call.output_gradients[0],
                         call.inputs[0].dimension(0));
  return gradients;
}

std::vector<TensorType> SumRowsOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const Shape& ids = inputs[0].shape;
  const auto& [type, values] = inputs[1];
  CHECK(inputs[0].type == DataType::kInt32 && type != DataType::kBool &&
        ids.size() <= values.size() &&
        std::equal(ids.begin(), ids.end(), values.begin()))
      << ToString(inputs[1]) << " by " << ToString(inputs[0]);
  Shape shape = {rows_};
  shape.insert(shape.end(), values.begin() + static_cast<int>(ids.size()),
               values.end());
  return {{type, shape}};
}

Gradients SumRowsOperation::AddGradient(const CallGradient& call) const {
  Gradients gradients(2);
  gradients[1] = GatherRows(*call.output_gradients[0], call.inputs[0]);
  return gradients;
}

}  // namespace paceline::op
