// An operation: one typed primitive of which layers, losses, metrics and
// updates are made.
//
// An operation knows its shape rule and its gradient, and no device. Each is
// one file of this folder, with a class that holds its parameters and a
// function that adds a call of it:
//
//   op::Tensor sum = op::MatrixProduct(input, kernel) + bias;
//
// Each device has one file for each operation that it computes.
#ifndef PACELINE_COMMON_OPERATIONS_OPERATION_H_
#define PACELINE_COMMON_OPERATIONS_OPERATION_H_

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/tensor_type.h"

namespace paceline::op {

class Tensor;

// Gradients of several tensors. nullopt: the differentiated sum does not depend
// on the tensor, or nobody wants to know.
using Gradients = std::vector<std::optional<Tensor>>;

// What the gradient of one call is made from.
struct CallGradient {
  absl::Span<const Tensor> inputs;
  absl::Span<const Tensor> outputs;
  // At least one has a value.
  const Gradients& output_gradients;
  // Of each input, whether its gradient is wanted. At least one is.
  const std::vector<bool>& wanted;
};

// Immutable; thread-safe.
class Operation {
 public:
  virtual ~Operation() = default;

  // Such as "Convolution": names it in errors and in the tables of devices.
  virtual absl::string_view name() const = 0;

  // The shape rule: the outputs for these inputs. CHECK-fails on inputs that do
  // not fit, for whoever lowers a layer has checked its shapes.
  virtual std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const = 0;

  // Adds the operations that compute the gradients by the inputs, to the
  // function of `call`, and returns one for each input. CHECK-fails if the
  // operation has none: those that are part of a gradient need no gradient of
  // their own yet.
  virtual Gradients AddGradient(const CallGradient& call) const;
};

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_OPERATION_H_
