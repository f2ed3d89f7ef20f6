// A layer: typed configuration and shape rule. Devices compute it, layers do
// not.
//
// A layer is one file in common/model/layers: a class whose public members are
// Keras' config keys, its field table, its shape rule, its variables, and the
// operations that it is made of. Devices compute those operations; where they
// store outputs in 16 bits, or fuse neighbours, they also ask for some classes
// of layers (worker/device/cpu/compute_type_outputs.cc, worker/device/program).
#ifndef PACELINE_COMMON_MODEL_LAYER_H_
#define PACELINE_COMMON_MODEL_LAYER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/activation.h"
#include "common/model/variable.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// What a layer is made into operations from.
struct LayerCall {
  // With the batch.
  absl::Span<const op::Tensor> inputs;
  // In the order of Layer::Variables.
  absl::Span<const op::Tensor> variables;
  bool is_training = false;
  // The job's; keys what is random.
  uint64_t seed = 0;
};

struct LoweredLayer {
  // Most layers give an output alone.
  // NOLINTNEXTLINE(google-explicit-constructor)
  LoweredLayer(op::Tensor tensor) : output(tensor) {}

  // What goes into the final activation (Layer::final_activation), which is
  // added by whoever lowers the model.
  op::Tensor output;
  // In training, what the batch has of each statistic (VariableUpdate::kDelta),
  // by its index in LayerCall::variables.
  std::vector<std::pair<int, op::Tensor>> statistics;
};

// Immutable once it is part of a graph; thread-safe then.
class Layer {
 public:
  virtual ~Layer() = default;

  // Keras' class name, such as "Conv2D".
  virtual absl::string_view class_name() const = 0;

  // Whether it joins the outputs of two or more layers. All others read one,
  // an Input none.
  virtual bool is_merge() const { return false; }

  // If above 0: the layer reads ids from 0 to id_count() - 1, which come with
  // the batch.
  virtual int64_t id_count() const { return 0; }

  // Shape of the output for these inputs, both without the batch.
  // InvalidArgument says which input does not fit and why.
  virtual absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const = 0;

  // The variables, in Keras' order, with names such as "kernel" that
  // the graph completes. `inputs` was accepted by OutputShape.
  virtual std::vector<VariableSpec> Variables(
      absl::Span<const Shape> /*inputs*/) const {
    return {};
  }

  // Adds the layer's operations to the function of `call`.
  virtual LoweredLayer Lower(const LayerCall& call) const = 0;

  // The activation that is the last thing the layer computes; linear if there
  // is none. A loss may read what goes into it: see loss_input.h.
  virtual ActivationFunction final_activation() const {
    return ActivationFunction::kLinear;
  }

  // Unique in the model, such as "conv2d_1".
  std::string name;
  // Whether training changes its variables.
  bool trainable = true;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYER_H_
