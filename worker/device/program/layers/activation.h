// Activation and Softmax, by a device's FinalActivation.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_ACTIVATION_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_ACTIVATION_H_

#include <memory>
#include <optional>

#include "common/model/layers/activation.h"
#include "common/model/layers/softmax.h"
#include "common/model/shape_rule.h"
#include "worker/device/program/node_computation.h"
#include "worker/device/row_geometry.h"

namespace paceline {

template <typename Builder, typename FinalActivation>
class ActivationComputation final : public LayerComputation<Builder> {
 public:
  // With `rows`, the function is row-wise along their axis.
  explicit ActivationComputation(ActivationFunction function,
                                 std::optional<RowGeometry> rows = std::nullopt)
      : activation_(function), rows_(rows) {}

  Tensor* AddForward(Tensor* input, Builder& builder) override {
    return rows_ ? activation_.AddRowwiseForward(input, *rows_, builder)
                 : activation_.AddForward(input, builder);
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             Builder& builder) override {
    if (!wants_input) return {};
    return {activation_.AddBackward(output, builder)};
  }

  Tensor* before_activation() const override { return activation_.input(); }

 private:
  FinalActivation activation_;
  const std::optional<RowGeometry> rows_;
};

template <typename Builder, typename FinalActivation>
std::unique_ptr<NodeComputation<Builder>> MakeActivation(const Graph& /*graph*/,
                                                         const Node& node) {
  return std::make_unique<ActivationComputation<Builder, FinalActivation>>(
      static_cast<const Activation&>(*node.layer).activation);
}

template <typename Builder, typename FinalActivation>
std::unique_ptr<NodeComputation<Builder>> MakeSoftmax(const Graph& /*graph*/,
                                                      const Node& node) {
  const Shape& shape = node.output_shape;
  const int axis =
      ExampleAxis(static_cast<const Softmax&>(*node.layer).axis, shape.size());
  return std::make_unique<ActivationComputation<Builder, FinalActivation>>(
      ActivationFunction::kSoftmax, RowsAlong(shape, axis));
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_ACTIVATION_H_
