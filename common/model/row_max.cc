#include "common/model/row_max.h"

#include <utility>
#include <vector>

#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/class_ids.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/select.h"

namespace paceline {

op::Tensor IsRowMax(const op::Tensor& x) {
  Shape rows = x.shape();
  rows.pop_back();
  return op::IsClass(op::Reshape(op::ArgMax(x), std::move(rows)),
                     x.dimension(-1), x.data_type());
}

op::Tensor RowMax(const op::Tensor& x) {
  const std::vector<int> last = {x.rank() - 1};
  const op::Tensor zero = op::ConstantLike(x, 0);
  const op::Tensor largest = op::Sum(op::Select(IsRowMax(x), x, zero), last);
  const op::Tensor is_largest = op::Equal(x, largest);
  const op::Tensor sum = op::Sum(op::Select(is_largest, x, zero), last);
  return sum / op::Sum(op::Cast(is_largest, x.data_type()), last);
}

}  // namespace paceline
