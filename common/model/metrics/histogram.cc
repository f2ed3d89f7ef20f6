#include "common/model/metrics/histogram.h"

#include <cmath>

#include "common/model/masked_mean.h"
#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/compare.h"
#include "common/operations/iota.h"
#include "common/operations/map.h"
#include "common/operations/matrix_product.h"
#include "common/operations/reshape.h"
#include "common/operations/slice.h"

namespace paceline {

op::Tensor Histogram(const op::Tensor& ids, int64_t size,
                     const std::optional<op::Tensor>& weights) {
  const auto base = static_cast<int64_t>(std::ceil(std::sqrt(size)));
  const int64_t rows = (size + base - 1) / base;
  const auto one_hot = [&ids](const op::Tensor& digit, int64_t digits) {
    const op::Tensor column = op::Reshape(digit, {digit.dimension(0), 1});
    const op::Tensor iota = op::Iota(ids.function(), digits, ids.data_type());
    return op::Cast(op::Equal(column, iota), ids.data_type());
  };
  // The half keeps rounding away from the bounds of the digits.
  const op::Tensor high = op::Floor((ids + 0.5) / static_cast<double>(base));
  const op::Tensor low = ids - high * static_cast<double>(base);
  const op::Tensor one_hot_of_high = Weighted(one_hot(high, rows), weights);
  const op::Tensor counts =
      op::MatrixProduct(one_hot_of_high, one_hot(low, base),
                        /*left_is_transposed=*/true);
  return op::SliceAxis(op::Reshape(counts, {rows * base}), 0, 0, size);
}

}  // namespace paceline
