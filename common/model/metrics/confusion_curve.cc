#include "common/model/metrics/confusion_curve.h"

#include <numeric>
#include <utility>

#include "common/model/metrics/histogram.h"
#include "common/operations/binary_map.h"
#include "common/operations/broadcast.h"
#include "common/operations/cast.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/select.h"

namespace paceline {

namespace {

// Just outside of [0, 1].
constexpr double kBelowZero = -kEpsilon;
constexpr double kAboveOne = 1 + kEpsilon;

// Of thresholds that are even.
op::Tensor CountEvenBelow(const op::Tensor& x,
                          const CurveThresholds& thresholds) {
  const auto intervals = static_cast<double>(thresholds.size() - 1);
  const op::Tensor rounded_down = op::Floor(op::Clip(x, 0, 1) * -intervals);
  const op::Tensor below = -rounded_down;
  return thresholds.pass_ends ? op::Maximum(below, 1) : below;
}

// Of any thresholds.
op::Tensor CountGivenBelow(const op::Tensor& x,
                           std::vector<double> thresholds) {
  const op::Tensor column = op::Reshape(x, {x.dimension(0), 1});
  const op::Tensor row =
      op::Constants(x.function(), x.data_type(), std::move(thresholds));
  const op::Tensor are_below =
      op::Cast(op::Greater(column, row), x.data_type());
  return op::Reshape(op::Sum(are_below, {1}), {x.dimension(0)});
}

// How many of the thresholds each element of (count) is above.
op::Tensor CountBelow(const op::Tensor& x, const CurveThresholds& thresholds) {
  if (!thresholds.given.empty()) {
    std::vector<double> all = thresholds.given;
    if (thresholds.pass_ends) {
      all.push_back(kBelowZero);
      all.push_back(kAboveOne);
    }
    return CountGivenBelow(x, std::move(all));
  }
  // Keras' only threshold.
  if (thresholds.count == 1) return CountGivenBelow(x, {0.5});
  return CountEvenBelow(x, thresholds);
}

op::Tensor Flat(const op::Tensor& x) { return op::Reshape(x, {x.count()}); }

}  // namespace

int64_t CurveThresholds::size() const {
  if (given.empty()) return count;
  return static_cast<int64_t>(given.size()) + (pass_ends ? 2 : 0);
}

int64_t ConfusionCurveMetric::state_size() const {
  return 2 * (Thresholds().size() + 1);
}

op::Tensor ConfusionCurveMetric::LowerState(
    const op::Tensor& output, const op::Tensor& labels,
    const std::optional<op::Tensor>& weights) const {
  const CurveThresholds thresholds = Thresholds();
  const op::Tensor below = CountBelow(Flat(Probabilities(output)), thresholds);
  const op::Tensor is_no =
      op::Cast(op::Equal(Flat(CountedLabels(labels)), 0), output.data_type());
  const op::Tensor ids =
      below + is_no * static_cast<double>(thresholds.size() + 1);
  std::optional<op::Tensor> weights_of_ids;
  if (weights) {
    const int64_t batch = weights->count();
    weights_of_ids = Flat(op::Broadcast(op::Reshape(*weights, {batch, 1}),
                                        {batch, ids.count() / batch}));
  }
  return Histogram(ids, state_size(), weights_of_ids);
}

double ConfusionCurveMetric::Result(absl::Span<const double> state) const {
  const int64_t size = Thresholds().size();
  const absl::Span<const double> yes = state.first(size + 1);
  const absl::Span<const double> no = state.subspan(size + 1, size + 1);
  const double all_yes = std::accumulate(yes.begin(), yes.end(), 0.0);
  const double all_no = std::accumulate(no.begin(), no.end(), 0.0);
  std::vector<Confusion> curve(size);
  Confusion above;
  for (int64_t i = size - 1; i >= 0; --i) {
    above.true_positives += yes[i + 1];
    above.false_positives += no[i + 1];
    above.false_negatives = all_yes - above.true_positives;
    above.true_negatives = all_no - above.false_positives;
    curve[i] = above;
  }
  return ResultOf(curve);
}

}  // namespace paceline
