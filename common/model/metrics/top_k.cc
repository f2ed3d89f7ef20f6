#include "common/model/metrics/top_k.h"

#include <limits>
#include <vector>

#include "common/model/row_max.h"
#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/class_ids.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/select.h"

namespace paceline {

op::Tensor IsInTopK(const op::Tensor& output, const op::Tensor& classes,
                    int64_t k) {
  const std::vector<int> last = {output.rank() - 1};
  const auto count = [&](const op::Tensor& holds) {
    return op::Sum(op::Cast(holds, output.data_type()), last);
  };
  const op::Tensor zero = op::ConstantLike(output, 0);
  const op::Tensor is_class =
      op::IsClass(classes, output.dimension(-1), output.data_type());
  const op::Tensor of_class = op::Sum(op::Select(is_class, output, zero), last);
  const op::Tensor larger = count(op::Greater(output, of_class));
  // x - x is 0 unless x is infinite or NaN.
  const op::Tensor finite = count(op::Equal(output - output, 0));
  const op::Tensor are_few = op::Less(larger, static_cast<double>(k));
  const op::Tensor are_finite =
      op::Equal(finite, static_cast<double>(output.dimension(-1)));
  const op::Tensor holds =
      op::And(op::And(are_few, are_finite), op::Equal(count(is_class), 1));
  return op::Reshape(op::Cast(holds, output.data_type()), classes.shape());
}

op::Tensor AreTopK(const op::Tensor& output, int64_t k) {
  const op::Tensor least =
      op::ConstantLike(output, -std::numeric_limits<double>::infinity());
  op::Tensor rest = output;
  for (int64_t i = 0; i < k; ++i) {
    rest = op::Select(IsRowMax(rest), least, rest);
  }
  return op::Equal(rest, least);
}

}  // namespace paceline
