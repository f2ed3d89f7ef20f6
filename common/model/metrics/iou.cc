#include "common/model/metrics/iou.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "common/config/field_table.h"
#include "common/model/loss.h"
#include "common/model/masked_mean.h"
#include "common/model/metrics/sum_over_batch.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/compare.h"
#include "common/operations/concatenate.h"
#include "common/operations/iota.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/select.h"

namespace paceline {

namespace {

template <typename M>
Field<M> NumClassesField() {
  return Required("num_classes", &M::num_classes, AtLeast(1),
                  "Number of classes.");
}

template <typename M>
Field<M> TargetField() {
  return Required("target_class_ids", &M::target_class_ids, AtLeast(0),
                  "The classes that count.");
}

template <typename M>
std::vector<Field<M>> NameFields() {
  return {Optional("name", &Metric::name, "Key in the logs."),
          Only("dtype", "int64", "Type of the counts.")};
}

template <typename M>
std::vector<Field<M>> ClassFields(bool has_sparse_y_true) {
  std::vector<Field<M>> fields = {
      Optional("ignore_class", &M::ignore_class,
               "Labels of this class do not count."),
      Optional("sparse_y_true", &M::sparse_y_true,
               "Whether labels are numbers of classes, not one-hot."),
      Optional("sparse_y_pred", &M::sparse_y_pred,
               "Whether outputs are numbers of classes."),
      Only("axis", -1, "Axis of the classes.")};
  if (!has_sparse_y_true) fields.erase(fields.begin() + 1);
  return fields;
}

// As Keras' conversion to an integer does.
op::Tensor RoundTowardsZero(const op::Tensor& x) {
  const op::Tensor sign = op::Sign(x);
  return sign * op::Floor(op::Abs(x));
}

// The numbers of classes of any shape that reals mean, (elements).
op::Tensor ClassNumbers(const op::Tensor& x) {
  return RoundTowardsZero(op::Reshape(x, {x.count()}));
}

// The number of the largest along the last axis, (elements).
op::Tensor LargestClasses(const op::Tensor& x) {
  const op::Tensor ids = op::ArgMax(x);
  return op::Cast(op::Reshape(ids, {ids.count()}), x.data_type());
}

op::Tensor IsWithin(const op::Tensor& numbers, int64_t size) {
  const op::Tensor is_not_below = op::GreaterEqual(numbers, 0);
  return op::And(is_not_below, op::Less(numbers, static_cast<double>(size)));
}

// From numbers (elements) to bools (elements, size).
op::Tensor AreClasses(const op::Tensor& numbers, int64_t size) {
  const op::Tensor iota =
      op::Iota(numbers.function(), size, numbers.data_type());
  return op::Equal(op::Reshape(numbers, {numbers.count(), 1}), iota);
}

}  // namespace

const FieldTable<Iou>& Iou::Fields() {
  static const auto& table = *new FieldTable<Iou>(
      kClassName, "Intersection over union, the mean over some classes.",
      Joined<Iou>({NameFields<Iou>(),
                   {NumClassesField<Iou>(), TargetField<Iou>()},
                   ClassFields<Iou>(/*has_sparse_y_true=*/true)}));
  return table;
}

const FieldTable<OneHotIou>& OneHotIou::Fields() {
  using Self = OneHotIou;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "The same as IoU, of labels that are one-hot.",
      Joined<Self>({{NumClassesField<Self>(), TargetField<Self>()},
                    NameFields<Self>(),
                    ClassFields<Self>(/*has_sparse_y_true=*/false)}));
  return table;
}

const FieldTable<BinaryIou>& BinaryIou::Fields() {
  using Self = BinaryIou;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Intersection over union of no and yes.",
      Joined<Self>({{Optional("target_class_ids", &Self::target_class_ids,
                              Between(0, 1), "The classes that count."),
                     Optional("threshold", &Self::threshold,
                              "From which on an output is yes.")},
                    NameFields<Self>()}));
  return table;
}

const FieldTable<MeanIou>& MeanIou::Fields() {
  using Self = MeanIou;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Intersection over union, the mean over all classes.",
      Joined<Self>({{NumClassesField<Self>()},
                    NameFields<Self>(),
                    ClassFields<Self>(/*has_sparse_y_true=*/true)}));
  return table;
}

const FieldTable<OneHotMeanIou>& OneHotMeanIou::Fields() {
  using Self = OneHotMeanIou;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "The same as MeanIoU, of labels that are one-hot.",
      Joined<Self>({{NumClassesField<Self>()},
                    NameFields<Self>(),
                    ClassFields<Self>(/*has_sparse_y_true=*/false)}));
  return table;
}

bool IouMetric::has_sparse_labels() const {
  return sparse_y_true && !sparse_y_pred;
}

absl::Status IouMetric::CheckOutput(const Shape& output) const {
  for (const int64_t target : Targets()) {
    if (target < num_classes) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("target_class_ids has ", target,
                     "; expected below num_classes, ", num_classes));
  }
  if (!sparse_y_true && sparse_y_pred) {
    return absl::UnimplementedError(
        "sparse_y_pred is true for labels that are one-hot, which is not "
        "supported: labels have the output's shape; expected false");
  }
  return has_sparse_labels() ? CheckClasses(output) : CheckRank(output, 1);
}

std::vector<int64_t> IouMetric::Targets() const {
  std::vector<int64_t> all(num_classes);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

op::Tensor IouMetric::Predictions(const op::Tensor& output) const {
  return sparse_y_pred ? ClassNumbers(output) : LargestClasses(output);
}

op::Tensor BinaryIou::Predictions(const op::Tensor& output) const {
  return ClassNumbers(
      op::Cast(op::GreaterEqual(output, threshold), output.data_type()));
}

op::Tensor IouMetric::LowerState(
    const op::Tensor& output, const op::Tensor& labels,
    const std::optional<op::Tensor>& weights) const {
  const DataType type = output.data_type();
  const op::Tensor truth = sparse_y_true ? ClassNumbers(op::Cast(labels, type))
                                         : LargestClasses(labels);
  const op::Tensor prediction = Predictions(output);
  const op::Tensor is_truth_valid = IsWithin(truth, num_classes);
  op::Tensor counts =
      op::And(is_truth_valid, IsWithin(prediction, num_classes));
  if (ignore_class) {
    const op::Tensor is_ignored =
        op::Equal(truth, static_cast<double>(*ignore_class));
    counts = op::And(counts, op::Not(is_ignored));
  }
  const int64_t batch = output.dimension(0);
  op::Tensor counted =
      op::Reshape(op::Cast(counts, type), {batch, counts.count() / batch});
  // Keras' counts are integers.
  if (weights) counted = Weighted(counted, RoundTowardsZero(*weights));
  counted = op::Reshape(counted, {counts.count(), 1});
  const auto sum = [&](const op::Tensor& are_classes) {
    return SumOverBatch(op::Cast(are_classes, type) * counted);
  };
  const op::Tensor are_true = AreClasses(truth, num_classes);
  const op::Tensor are_predicted = AreClasses(prediction, num_classes);
  return op::Concatenate({sum(op::And(are_true, are_predicted)), sum(are_true),
                          sum(are_predicted)},
                         0);
}

double IouMetric::Result(absl::Span<const double> state) const {
  double sum = 0;
  double occurring = 0;
  for (const int64_t i : Targets()) {
    const double both = state[i];
    const double either =
        state[num_classes + i] + state[2 * num_classes + i] - both;
    if (either == 0) continue;
    sum += both / (either + kEpsilon);
    ++occurring;
  }
  return sum / (occurring + kEpsilon);
}

}  // namespace paceline
