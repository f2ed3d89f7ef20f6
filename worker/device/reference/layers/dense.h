// The rows of a batch times a matrix.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_DENSE_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_DENSE_H_

#include <algorithm>
#include <vector>

#include "common/model/layers/dense.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class DenseComputation : public LayerComputation<T> {
 public:
  explicit DenseComputation(const LayerContext<T>& context)
      : variables_(context.variables) {}

  void Forward(const Step& /*step*/, const Tensor<T>& input,
               Tensor<T>& output) override {
    const absl::Span<const T> kernel = variables_[0].value;
    const int64_t units = output.row_size();
    for (int64_t r = 0; r < input.row_count(); ++r) {
      for (int64_t u = 0; u < units; ++u) {
        T sum = has_bias() ? variables_[1].value[u] : T{0};
        for (int64_t i = 0; i < input.row_size(); ++i) {
          sum += input.row(r)[i] * kernel[i * units + u];
        }
        output.row(r)[u] = sum;
      }
    }
  }

  void Backward(const Step& /*step*/, const Tensor<T>& input,
                const Tensor<T>& /*output*/, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    const auto& [kernel, kernel_gradient, unused] = variables_[0];
    const int64_t units = output_gradient.row_size();
    std::fill(kernel_gradient.begin(), kernel_gradient.end(), T{0});
    if (has_bias()) {
      const absl::Span<T> bias_gradient = variables_[1].gradient;
      std::fill(bias_gradient.begin(), bias_gradient.end(), T{0});
    }
    for (int64_t r = 0; r < input.row_count(); ++r) {
      const T* const x = input.row(r);
      const T* const dy = output_gradient.row(r);
      for (int64_t i = 0; i < input.row_size(); ++i) {
        T sum = 0;
        for (int64_t u = 0; u < units; ++u) {
          sum += kernel[i * units + u] * dy[u];
          kernel_gradient[i * units + u] += x[i] * dy[u];
        }
        input_gradient.row(r)[i] = sum;
      }
      if (has_bias()) {
        for (int64_t u = 0; u < units; ++u) variables_[1].gradient[u] += dy[u];
      }
    }
  }

 private:
  bool has_bias() const { return variables_.size() > 1; }

  std::vector<Variable<T>> variables_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_DENSE_H_
