// A layer: typed configuration and shape rule. Devices compute it, layers do
// not.
//
// A layer is one file in common/model/layers: a class whose public members are
// Keras' config keys, its field table, its shape rule and its variables. Each
// device adds one file that computes it.
#ifndef PACELINE_COMMON_MODEL_LAYER_H_
#define PACELINE_COMMON_MODEL_LAYER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/activation.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

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
