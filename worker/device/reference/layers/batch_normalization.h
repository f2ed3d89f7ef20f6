// Normalization by the mean and variance of each channel over the batch.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_BATCH_NORMALIZATION_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_BATCH_NORMALIZATION_H_

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/model/layers/batch_normalization.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class BatchNormalizationComputation : public LayerComputation<T> {
 public:
  explicit BatchNormalizationComputation(const LayerContext<T>& context)
      : layer_(static_cast<const BatchNormalization&>(*context.layer)),
        variables_(context.variables),
        replica_sum_(layer_.synchronized ? context.replica_sum : nullptr),
        mean_(context.input_shape.back()),
        inverse_deviation_(mean_.size()) {}

  void Forward(const Step& step, const Tensor<T>& input,
               Tensor<T>& output) override {
    if (step.mode == Mode::kTrain && layer_.trainable) {
      TakeBatchStatistics(step, input);
    } else {
      for (size_t c = 0; c < mean_.size(); ++c) {
        mean_[c] = moving_mean().value[c];
        SetVariance(c, moving_variance().value[c]);
      }
    }
    for (int64_t r = 0; r < input.row_count(); ++r) {
      for (size_t c = 0; c < mean_.size(); ++c) {
        output.row(r)[c] =
            static_cast<T>(gamma(c) * Normalized(input.row(r)[c], c) + beta(c));
      }
    }
  }

  // With N rows and x̂ the normalized input,
  //   dx = gamma / √(variance + epsilon) · (dy − Σ dy / N − x̂ · Σ dy·x̂ / N),
  // without the sums where the statistics are not those of the batch.
  void Backward(const Step& /*step*/, const Tensor<T>& input,
                const Tensor<T>& /*output*/, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    const size_t channels = mean_.size();
    if (!layer_.trainable) {
      for (int64_t r = 0; r < input.row_count(); ++r) {
        for (size_t c = 0; c < channels; ++c) {
          input_gradient.row(r)[c] = static_cast<T>(
              gamma(c) * inverse_deviation_[c] * output_gradient.row(r)[c]);
        }
      }
      return;
    }
    // Σ dy, then Σ dy·x̂.
    std::vector<double> sums(2 * channels);
    for (int64_t r = 0; r < input.row_count(); ++r) {
      for (size_t c = 0; c < channels; ++c) {
        const double dy = output_gradient.row(r)[c];
        sums[c] += dy;
        sums[channels + c] += dy * Normalized(input.row(r)[c], c);
      }
    }
    // Those of this replica's examples: the strategy adds replicas up.
    for (size_t c = 0; c < channels; ++c) {
      if (layer_.center) Beta().gradient[c] = static_cast<T>(sums[c]);
      if (layer_.scale) {
        variables_[0].gradient[c] = static_cast<T>(sums[channels + c]);
      }
    }
    if (replica_sum_ != nullptr) replica_sum_->AddUp(absl::MakeSpan(sums));
    for (int64_t r = 0; r < input.row_count(); ++r) {
      for (size_t c = 0; c < channels; ++c) {
        const double x = Normalized(input.row(r)[c], c);
        const double dy = output_gradient.row(r)[c];
        input_gradient.row(r)[c] = static_cast<T>(
            gamma(c) * inverse_deviation_[c] *
            (dy - sums[c] / rows_ - x * sums[channels + c] / rows_));
      }
    }
  }

 private:
  const Variable<T>& Beta() const { return variables_[layer_.scale ? 1 : 0]; }
  const Variable<T>& moving_mean() const {
    return variables_[variables_.size() - 2];
  }
  const Variable<T>& moving_variance() const { return variables_.back(); }
  double gamma(size_t c) const {
    return layer_.scale ? variables_[0].value[c] : 1;
  }
  double beta(size_t c) const { return layer_.center ? Beta().value[c] : 0; }
  double Normalized(T x, size_t c) const {
    return (x - mean_[c]) * inverse_deviation_[c];
  }
  void SetVariance(size_t c, double variance) {
    inverse_deviation_[c] =
        1 / std::sqrt(std::max(variance, 0.0) + layer_.epsilon);
  }

  void TakeBatchStatistics(const Step& step, const Tensor<T>& input) {
    const size_t channels = mean_.size();
    // N, Σ x, and Σ x² without the loss of digits that adding squares up has.
    std::vector<double> sums(1 + 2 * channels);
    const auto rows = static_cast<double>(input.row_count());
    sums[0] = rows;
    for (size_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (int64_t r = 0; r < input.row_count(); ++r) sum += input.row(r)[c];
      const double mean = sum / rows;
      double deviation = 0;
      for (int64_t r = 0; r < input.row_count(); ++r) {
        const double difference = input.row(r)[c] - mean;
        deviation += difference * difference;
      }
      sums[1 + c] = sum;
      sums[1 + channels + c] = deviation + sum * mean;
    }
    if (replica_sum_ != nullptr) replica_sum_->AddUp(absl::MakeSpan(sums));
    rows_ = sums[0];
    const double share = step.batch.regularization_scale;
    for (size_t c = 0; c < channels; ++c) {
      mean_[c] = sums[1 + c] / rows_;
      const double variance =
          sums[1 + channels + c] / rows_ - mean_[c] * mean_[c];
      SetVariance(c, variance);
      const double rate = share * (1 - layer_.momentum);
      moving_mean().gradient[c] =
          static_cast<T>(rate * (mean_[c] - moving_mean().value[c]));
      moving_variance().gradient[c] =
          static_cast<T>(rate * (variance - moving_variance().value[c]));
    }
  }

  const BatchNormalization& layer_;
  const std::vector<Variable<T>> variables_;
  ReplicaSum* const replica_sum_;
  // Of all whose statistics are shared.
  double rows_ = 0;
  std::vector<double> mean_;
  std::vector<double> inverse_deviation_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_BATCH_NORMALIZATION_H_
