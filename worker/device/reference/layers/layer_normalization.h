// Normalization by the mean and variance of each row.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_LAYER_NORMALIZATION_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_LAYER_NORMALIZATION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/model/layers/layer_normalization.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class LayerNormalizationComputation : public LayerComputation<T> {
 public:
  explicit LayerNormalizationComputation(const LayerContext<T>& context)
      : layer_(*static_cast<const LayerNormalization*>(context.layer)),
        variables_(context.variables),
        size_(NumElements(layer_.NormalizedShape(context.input_shape))) {}

  void Forward(const Step& /*step*/, const Tensor<T>& input,
               Tensor<T>& output) override {
    for (int64_t first = 0; first < input.size(); first += size_) {
      const T* const x = &input.values[first];
      const Row row = RowOf(x);
      for (int64_t i = 0; i < size_; ++i) {
        output.values[first + i] =
            static_cast<T>(gamma(i) * row.Normalized(x[i]) + beta(i));
      }
    }
  }

  // With N elements in a row, x̂ the normalized input and g = gamma · dy,
  //   dx = (g − Σ g / N − x̂ · Σ g·x̂ / N) / √(variance + epsilon).
  void Backward(const Step& /*step*/, const Tensor<T>& input,
                const Tensor<T>& /*output*/, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    for (const Variable<T>& variable : variables_) {
      std::fill(variable.gradient.begin(), variable.gradient.end(), T{0});
    }
    const auto count = static_cast<double>(size_);
    for (int64_t first = 0; first < input.size(); first += size_) {
      const T* const x = &input.values[first];
      const T* const dy = &output_gradient.values[first];
      const Row row = RowOf(x);
      double sum = 0;
      double product = 0;
      for (int64_t i = 0; i < size_; ++i) {
        const double normalized = row.Normalized(x[i]);
        sum += gamma(i) * dy[i];
        product += gamma(i) * dy[i] * normalized;
        if (layer_.scale) {
          variables_.front().gradient[i] += static_cast<T>(dy[i] * normalized);
        }
        if (layer_.center) variables_.back().gradient[i] += dy[i];
      }
      for (int64_t i = 0; i < size_; ++i) {
        input_gradient.values[first + i] = static_cast<T>(
            row.inverse_deviation * (gamma(i) * dy[i] - sum / count -
                                     row.Normalized(x[i]) * product / count));
      }
    }
  }

 private:
  struct Row {
    double mean = 0;
    double inverse_deviation = 0;
    double Normalized(double x) const { return (x - mean) * inverse_deviation; }
  };

  Row RowOf(const T* x) const {
    const auto count = static_cast<double>(size_);
    Row row;
    for (int64_t i = 0; i < size_; ++i) row.mean += x[i] / count;
    double variance = 0;
    for (int64_t i = 0; i < size_; ++i) {
      variance += (x[i] - row.mean) * (x[i] - row.mean) / count;
    }
    row.inverse_deviation = 1 / std::sqrt(variance + layer_.epsilon);
    return row;
  }

  double gamma(int64_t i) const {
    return layer_.scale ? variables_.front().value[i] : 1;
  }
  double beta(int64_t i) const {
    return layer_.center ? variables_.back().value[i] : 0;
  }

  const LayerNormalization& layer_;
  std::vector<Variable<T>> variables_;
  int64_t size_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_LAYER_NORMALIZATION_H_
