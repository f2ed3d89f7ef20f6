// Intersection over union of classes: of the elements whose label or prediction
// is a class, how many have it as both. The mean over classes, as Keras'
// iou_metrics compute it.
#ifndef PACELINE_COMMON_MODEL_METRICS_IOU_H_
#define PACELINE_COMMON_MODEL_METRICS_IOU_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/metric.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// The class of an element is a number, or the largest along the last axis of an
// output or of a label. Elements of which the label or the prediction is no
// class do not count.
//
// The state is, by class, how many elements have it as label and prediction, as
// label, and as prediction.
class IouMetric : public Metric {
 public:
  bool has_sparse_labels() const override;
  absl::Status CheckOutput(const Shape& output) const override;
  bool is_mean() const override { return false; }
  int64_t state_size() const override { return 3 * num_classes; }
  op::Tensor LowerState(
      const op::Tensor& output, const op::Tensor& labels,
      const std::optional<op::Tensor>& weights) const override;
  double Result(absl::Span<const double> state) const override;

  int64_t num_classes = 0;
  // Labels of this class do not count.
  std::optional<int64_t> ignore_class;
  // Whether labels and outputs are the numbers of classes.
  bool sparse_y_true = true;
  bool sparse_y_pred = true;

 protected:
  // The classes whose mean is the result, in [0, num_classes).
  virtual std::vector<int64_t> Targets() const;
  // The classes of the outputs, (elements), as reals.
  virtual op::Tensor Predictions(const op::Tensor& output) const;
};

// The mean over some classes.
class Iou : public IouMetric {
 public:
  static constexpr char kClassName[] = "IoU";
  static const FieldTable<Iou>& Fields();

  absl::string_view class_name() const override { return kClassName; }

  std::vector<int64_t> target_class_ids;

 protected:
  std::vector<int64_t> Targets() const override { return target_class_ids; }
};

// The same, of labels that are one-hot.
class OneHotIou : public Iou {
 public:
  static constexpr char kClassName[] = "OneHotIoU";
  static const FieldTable<OneHotIou>& Fields();

  OneHotIou() { sparse_y_true = sparse_y_pred = false; }

  absl::string_view class_name() const override { return kClassName; }
};

// Of two classes: whether an output is at least the threshold.
class BinaryIou : public Iou {
 public:
  static constexpr char kClassName[] = "BinaryIoU";
  static const FieldTable<BinaryIou>& Fields();

  BinaryIou() {
    num_classes = 2;
    target_class_ids = {0, 1};
  }

  absl::string_view class_name() const override { return kClassName; }

  double threshold = 0.5;

 protected:
  op::Tensor Predictions(const op::Tensor& output) const override;
};

// The mean over all classes.
class MeanIou : public IouMetric {
 public:
  static constexpr char kClassName[] = "MeanIoU";
  static const FieldTable<MeanIou>& Fields();

  absl::string_view class_name() const override { return kClassName; }
};

// The same, of labels that are one-hot.
class OneHotMeanIou : public IouMetric {
 public:
  static constexpr char kClassName[] = "OneHotMeanIoU";
  static const FieldTable<OneHotMeanIou>& Fields();

  OneHotMeanIou() { sparse_y_true = sparse_y_pred = false; }

  absl::string_view class_name() const override { return kClassName; }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_IOU_H_
