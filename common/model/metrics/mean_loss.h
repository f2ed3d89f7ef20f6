// A loss as a metric: its mean over the examples, without regularization.
#ifndef PACELINE_COMMON_MODEL_METRICS_MEAN_LOSS_H_
#define PACELINE_COMMON_MODEL_METRICS_MEAN_LOSS_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/model/loss.h"
#include "common/model/metric.h"
#include "common/tensor/shape.h"

namespace paceline {

class MeanLoss : public Metric {
 public:
  // class_name() is that of the loss; mean_of() tells a MeanLoss from other
  // metrics.
  explicit MeanLoss(std::unique_ptr<const Loss> loss,
                    bool is_output_loss = false)
      : loss_(std::move(loss)), is_output_loss_(is_output_loss) {}

  absl::string_view class_name() const override { return loss_->class_name(); }
  const Loss* mean_of() const override { return loss_.get(); }
  bool is_output_loss() const override { return is_output_loss_; }
  bool FitsMask(const Shape& output) const override {
    return loss_->FitsMask(output);
  }
  bool has_sparse_labels() const override { return loss_->has_sparse_labels(); }
  absl::Status CheckOutput(const Shape& output) const override {
    return loss_->CheckOutput(output);
  }

 private:
  std::unique_ptr<const Loss> loss_;
  bool is_output_loss_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_MEAN_LOSS_H_
