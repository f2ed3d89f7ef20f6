// What the reference device computes: plain loops, clarity first.
//
// A layer computes what goes into its final activation
// (Layer::final_activation); the activation is a computation of its own, which
// the program adds. So a loss that reads logits takes them between the two.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_COMPUTATION_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_COMPUTATION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/activation.h"
#include "common/model/layer.h"
#include "common/model/loss.h"
#include "common/model/metric.h"
#include "worker/device/device.h"
#include "worker/device/reference/tensor.h"

namespace paceline::reference {

// What a computation knows of the step it is part of.
struct Step {
  Mode mode = Mode::kTrain;
  Batch batch;
};

template <typename T>
using Inputs = absl::Span<const Tensor<T>* const>;

// A layer with any number of inputs.
template <typename T>
class NodeComputation {
 public:
  virtual ~NodeComputation() = default;

  virtual void RunForward(const Step& step, Inputs<T> inputs,
                          Tensor<T>& output) = 0;

  // From what the forward read and wrote and the loss's gradient by its output,
  // writes the gradients by its inputs and its variables.
  virtual void RunBackward(const Step& step, Inputs<T> inputs,
                           const Tensor<T>& output,
                           const Tensor<T>& output_gradient,
                           absl::Span<Tensor<T>> input_gradients) = 0;
};

// A layer with one input, or an activation.
template <typename T>
class LayerComputation : public NodeComputation<T> {
 public:
  virtual void Forward(const Step& step, const Tensor<T>& input,
                       Tensor<T>& output) = 0;
  virtual void Backward(const Step& step, const Tensor<T>& input,
                        const Tensor<T>& output,
                        const Tensor<T>& output_gradient,
                        Tensor<T>& input_gradient) = 0;

  void RunForward(const Step& step, Inputs<T> inputs, Tensor<T>& output) final {
    Forward(step, *inputs[0], output);
  }
  void RunBackward(const Step& step, Inputs<T> inputs, const Tensor<T>& output,
                   const Tensor<T>& output_gradient,
                   absl::Span<Tensor<T>> input_gradients) final {
    Backward(step, *inputs[0], output, output_gradient, input_gradients[0]);
  }
};

template <typename T>
class LossComputation {
 public:
  virtual ~LossComputation() = default;

  // Writes the loss of each example and, unless null, its gradient by `input`,
  // which is a model's output or the logits behind it.
  virtual void Compute(const Tensor<T>& input, HostTensor labels,
                       absl::Span<T> losses, Tensor<T>* gradient) const = 0;
};

template <typename T>
class MetricComputation {
 public:
  virtual ~MetricComputation() = default;

  // The metric's sum over the examples of a batch.
  virtual double Total(const Tensor<T>& output, HostTensor labels) const = 0;
};

// What the computation of a layer is made from. Shapes are with the batch.
template <typename T>
struct LayerContext {
  const Layer* layer = nullptr;
  // Of the first input.
  Shape input_shape;
  Shape output_shape;
  // In the order of Layer::Variables.
  std::vector<Variable<T>> variables;
  uint64_t seed = 0;
  // Null: the batch is all there is.
  ReplicaSum* replica_sum = nullptr;
};

// Whether MakeLayerComputation knows the layer's class.
bool IsSupported(const Layer& layer);

// CHECK-fails on classes it does not know.
template <typename T>
std::unique_ptr<NodeComputation<T>> MakeLayerComputation(
    const LayerContext<T>& context);
template <typename T>
std::unique_ptr<NodeComputation<T>> MakeActivationComputation(
    ActivationFunction function);
template <typename T>
std::unique_ptr<LossComputation<T>> MakeLossComputation(const Loss& loss,
                                                        bool from_logits);
template <typename T>
std::unique_ptr<MetricComputation<T>> MakeMetricComputation(
    const Metric& metric);

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_COMPUTATION_H_
