// An operation: a typed primitive from which layers, losses, metrics and
// updates are built.
//
// An operation defines shape inference and gradient, but no computation. Each
// operation is one file in this folder, with a class that has its parameters,
// and a C++ function that adds a call:
//
//   op::Tensor sum = op::MatrixProduct(input, kernel) + bias;
//
// Each device has a file for each operation that it computes.
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
// on the tensor, or the gradient is not wanted.
using Gradients = std::vector<std::optional<Tensor>>;

// The input for differentiating a call.
struct CallGradient {
  absl::Span<const Tensor> inputs;
  absl::Span<const Tensor> outputs;
  // By output. At least one has a value.
  const Gradients& output_gradients;
  // By input: whether its gradient is wanted. At least one is.
  const std::vector<bool>& wanted;
};

// Immutable; thread-safe.
class Operation {
 public:
  virtual ~Operation() = default;

  // Such as "Convolution"; the key in the tables of devices.
  virtual absl::string_view name() const = 0;

  // Shape inference: the types of the outputs for these inputs. CHECK-fails on
  // invalid inputs, since layers check shapes before they are lowered.
  virtual std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const = 0;

  // Adds the operations that compute the gradients with respect to the inputs,
  // to the function of `call`; returns one per input. CHECK-fails if the
  // operation has no gradient: operations of gradients need none yet.
  virtual Gradients AddGradient(const CallGradient& call) const;
};

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_OPERATION_H_
