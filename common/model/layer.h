// Layers: typed configuration and shape inference. Layers do not compute;
// devices do.
//
// A layer is one file in common/model/layers: a class whose public members are
// Keras' config keys, with its field table, its shape inference, its variables,
// and its lowering to operations. Devices compute the operations. Only to store
// outputs in 16 bits and to fuse neighbouring layers do devices look at classes
// of layers (worker/device/cpu/compute_type_outputs.cc, worker/device/program).
#ifndef PACELINE_COMMON_MODEL_LAYER_H_
#define PACELINE_COMMON_MODEL_LAYER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/limits.h"
#include "common/model/activation.h"
#include "common/model/regularizer.h"
#include "common/model/variable.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// The inputs for lowering a layer.
struct LayerCall {
  // With the batch axis.
  absl::Span<const op::Tensor> inputs;
  // In the order of Layer::Variables.
  absl::Span<const op::Tensor> variables;
  bool is_training = false;
  // The job's seed, for random operations.
  uint64_t seed = 0;
  // The number of the call, from 0, of a layer that is called several times.
  int call = 0;
  // If the layer reads masks: those of its inputs that have one, as numbers,
  // and which inputs these are, ascending.
  absl::Span<const op::Tensor> masks = {};
  absl::Span<const int> masked_inputs = {};

  // The mask of an input, as bools of this shape; nullopt: it has none.
  std::optional<op::Tensor> MaskOf(int input, Shape shape) const;
};

struct LoweredLayer {
  // Most layers have only an output.
  // NOLINTNEXTLINE(google-explicit-constructor)
  LoweredLayer(op::Tensor tensor) : output(tensor) {}

  // The input of the final activation (Layer::final_activation); whoever lowers
  // the model adds that activation.
  op::Tensor output;
  // In training: the batch's value of each statistic
  // (VariableUpdate::kDelta), with its index in LayerCall::variables.
  std::vector<std::pair<int, op::Tensor>> statistics;
};

// How many inputs a layer reads.
struct InputCount {
  size_t least = 1;
  size_t most = 1;
};

// The inputs for computing the mask of a layer's output. By input: its shape,
// and the shape of its mask, if it has one. All without the batch axis.
struct MaskedCall {
  absl::Span<const Shape> inputs;
  absl::Span<const std::optional<Shape>> masks;
};

struct OutputMask;

// Immutable once it is in a graph; then also thread-safe.
class Layer {
 public:
  virtual ~Layer() = default;

  // Keras' class name, such as "Conv2D".
  virtual absl::string_view class_name() const = 0;

  // Whether it merges two or more inputs, which Keras takes as a list.
  virtual bool is_merge() const { return false; }

  // Not of an Input, which reads none.
  virtual InputCount input_count() const {
    return is_merge() ? InputCount{2, limits::kMaxLayerInputs} : InputCount();
  }

  // The keys of the config that Keras takes as keyword arguments of the layer's
  // calls: "use_causal_mask".
  virtual std::vector<std::string> call_keywords() const { return {}; }

  // The keywords by which Keras' calls give the last of the inputs:
  // "attention_mask". These inputs are masks, 0 where a position does not
  // count; there is no gradient of them, and the masks that they have do not
  // matter.
  virtual std::vector<std::string> keyword_inputs() const { return {}; }

  // If positive: the layer reads ids from 0 to id_count() - 1, which must be
  // features of the batch.
  virtual int64_t id_count() const { return 0; }

  // Shape of the output for these inputs, both without the batch axis.
  // InvalidArgument says which input does not fit and why.
  virtual absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const = 0;

  // The variables in Keras' order, with names such as "kernel", which the graph
  // prefixes. OutputShape must have accepted `inputs`.
  virtual std::vector<VariableSpec> Variables(
      absl::Span<const Shape> /*inputs*/) const {
    return {};
  }

  // Where a file of weights of Keras has a variable, within the layer's group.
  virtual std::string WeightPath(int variable) const {
    return absl::StrCat("vars/", variable);
  }

  // Adds the layer's operations to the function of `call`.
  virtual LoweredLayer Lower(const LayerCall& call) const = 0;

  // The layer's final activation; linear if there is none. A loss may read its
  // input: see loss_input.h.
  virtual ActivationFunction final_activation() const {
    return ActivationFunction::kLinear;
  }

  // The mask of the output, as Keras' compute_mask gives it (graph_masks.h).
  // Unless overridden, that of the first input if the layer passes masks on,
  // else none. InvalidArgument and Unimplemented say which mask does not fit.
  virtual absl::StatusOr<OutputMask> ComputeMask(const MaskedCall& call) const;
  virtual bool passes_mask() const { return false; }
  // Whether Lower reads LayerCall::masks.
  virtual bool reads_masks() const { return false; }
  // Whether calls have the argument `mask` in Keras, whose files then name the
  // mask's tensor.
  virtual bool has_mask_argument() const { return false; }
  // Whether it computes a mask, of which there is no gradient.
  virtual bool is_mask() const { return false; }

  // The penalty on the output of each call, after the final activation, in
  // training and in evaluation: the graph adds an ActivityPenalty. As in Keras,
  // masks do not matter to it.
  virtual Regularizer output_penalty() const { return activity_regularizer; }
  // Whether it computes such a penalty, the part of each example in the loss,
  // and no node reads it.
  virtual bool is_penalty() const { return false; }

  // Whether the output is the input as it is. A loss then reads what is before
  // the layer: see loss_input.h.
  virtual bool IsIdentity(bool /*is_training*/) const { return false; }

  // Unique in the model, such as "conv2d_1".
  std::string name;
  // Whether training updates its variables.
  bool trainable = true;
  // See output_penalty().
  Regularizer activity_regularizer;
};

// The mask of a layer's output.
struct OutputMask {
  enum class Kind {
    kNone,
    // That of the first input.
    kOfFirstInput,
    // Steps count if they do in any of the inputs, all of which have masks.
    kAnyOfInputs,
    // `layer`, a DiffersMask, computes it from the layer's only input.
    kFromInput,
    // `layer` computes it from the masks of the inputs that have one.
    kFromMasks,
  };

  Kind kind = Kind::kNone;
  std::unique_ptr<Layer> layer = nullptr;
  // With `layer`: how many operations Keras has in its place, on the longest
  // path. They count in the order of layers in Keras' files (weight_paths.h).
  int operation_count = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYER_H_
