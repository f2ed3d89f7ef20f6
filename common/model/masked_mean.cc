#include "common/model/masked_mean.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "common/operations/binary_map.h"
#include "common/operations/compare.h"
#include "common/operations/concatenate.h"
#include "common/operations/constant.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/select.h"

namespace paceline {
namespace {

bool HasAxesOf(const op::Tensor& values, const op::Tensor& mask) {
  const Shape& shape = values.shape();
  return values.rank() >= mask.rank() &&
         std::equal(mask.shape().begin(), mask.shape().end(), shape.begin());
}

// The values where the mask counts, else 0, in the mask's shape.
op::Tensor Kept(const op::Tensor& values, const op::Tensor& mask) {
  op::Tensor means = values;
  if (values.count() != mask.count()) {
    std::vector<int> axes(values.rank() - mask.rank());
    std::iota(axes.begin(), axes.end(), mask.rank());
    means = op::Mean(values, std::move(axes));
  }
  return op::Select(op::Greater(mask, 0.5), op::Reshape(means, mask.shape()),
                    op::ConstantLike(mask, 0));
}

}  // namespace

op::Tensor MeanOfExamples(const op::Tensor& x) {
  if (x.count() == x.dimension(0)) return op::Reshape(x, {x.dimension(0)});
  std::vector<int> axes(x.rank() - 1);
  std::iota(axes.begin(), axes.end(), 1);
  return op::Reshape(op::Mean(x, std::move(axes)), {x.dimension(0)});
}

op::Tensor LossesOfExamples(const op::Tensor& losses,
                            const std::optional<op::Tensor>& mask) {
  if (!mask || !HasAxesOf(losses, *mask)) return MeanOfExamples(losses);
  const auto elements_of_batch = static_cast<double>(mask->count());
  const op::Tensor scale =
      elements_of_batch / op::Maximum(op::SumAll(*mask), 1);
  return MeanOfExamples(Kept(losses, *mask)) * scale;
}

op::Tensor MeanState(const op::Tensor& values,
                     const std::optional<op::Tensor>& mask,
                     const std::optional<op::Tensor>& weights) {
  const auto total = [&weights](const op::Tensor& x) {
    return op::Reshape(op::SumAll(Weighted(MeanOfExamples(x), weights)), {1});
  };
  if (mask && HasAxesOf(values, *mask)) {
    return op::Concatenate({total(Kept(values, *mask)), total(*mask)}, 0);
  }
  const op::Tensor count =
      weights ? op::Reshape(op::SumAll(*weights), {1})
              : op::Constants(values.function(), values.data_type(),
                              {static_cast<double>(values.dimension(0))});
  return op::Concatenate({total(values), count}, 0);
}

op::Tensor Weighted(const op::Tensor& values,
                    const std::optional<op::Tensor>& weights) {
  if (!weights) return values;
  Shape shape(values.rank(), 1);
  shape[0] = values.dimension(0);
  return values * op::Reshape(*weights, std::move(shape));
}

}  // namespace paceline
