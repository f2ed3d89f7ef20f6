// A layer for tests that is defined by a C++ function.
#ifndef PACELINE_TESTS_UNIT_DEVICE_COMPOSED_LAYER_H_
#define PACELINE_TESTS_UNIT_DEVICE_COMPOSED_LAYER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/graph.h"
#include "common/model/layer.h"
#include "common/model/losses/mean_squared_error.h"
#include "common/operations/function.h"
#include "worker/device/device.h"

namespace paceline {

// `Formula` maps the input to a tensor of the same shape.
class ComposedLayer final : public Layer {
 public:
  using Formula = op::Tensor(const op::Tensor& x);

  explicit ComposedLayer(Formula* formula) : formula_(formula) {
    name = "composed_1";
  }

  absl::string_view class_name() const override { return "Composed"; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override {
    return inputs[0];
  }
  LoweredLayer Lower(const LayerCall& call) const override {
    return formula_(call.inputs[0]);
  }

 private:
  Formula* formula_;
};

// Whether the device supports the layer for examples of this shape.
inline absl::Status SupportsComposed(const Device& device, const Shape& shape,
                                     ComposedLayer::Formula* formula) {
  const ComposedLayer layer(formula);
  const MeanSquaredError loss;
  Graph graph;
  graph.nodes = {
      {&layer, /*inputs=*/{}, /*variables=*/{}, /*output_shape=*/shape},
      {&layer, {0}, {}, shape}};
  graph.inputs = {0};
  graph.outputs = {1};
  graph.output_masks = {-1};
  ProgramSpec spec;
  spec.graph = &graph;
  spec.outputs = {{.loss = &loss}};
  return device.Supports(spec);
}

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_DEVICE_COMPOSED_LAYER_H_
