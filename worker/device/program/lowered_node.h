// A node of a graph, computed by the operations of its layer.
//
// Forward and backward are one function (node_function.h), so backward can use
// what forward has left in memory. To support a layer, a device needs only the
// operations.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_LOWERED_NODE_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_LOWERED_NODE_H_

#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "common/model/graph.h"
#include "common/operations/function.h"
#include "worker/device/program/layout_builder.h"
#include "worker/device/program/node_function.h"
#include "worker/device/program/node_gradients.h"
#include "worker/device/program/overwriting.h"
#include "worker/device/program/tensor.h"

namespace paceline {

class LoweredNode {
 public:
  // The graph must outlive the object and must be that of the program.
  LoweredNode(const Node& node, NodeFunction function);

  // Adds the calls of forward; returns the output.
  Tensor* AddForward(absl::Span<Tensor* const> inputs, LayoutBuilder& builder);

  // Adds the calls of backward: first the gradients of the node's variables,
  // then those of the inputs that are wanted. The arguments are the gradients
  // with respect to the output and to the input of the final activation, as far
  // as the function needs them; they are overwritten unless they are shared.
  // Returns one gradient per input; several may be the same tensor. Call it
  // after AddForward, in training.
  std::vector<OutputGradient> AddBackward(OutputGradient output,
                                          OutputGradient before_activation,
                                          const std::vector<bool>& wants_inputs,
                                          LayoutBuilder& builder);

  // The input of the final activation, for losses that read it; null if no loss
  // may read it. Call it after AddForward.
  Tensor* before_activation() const;

 private:
  // The calls that must be added to compute these tensors of the function.
  std::vector<const op::Call*> CallsFor(const std::vector<int>& wanted) const;
  // Marks all other calls, which are neither added nor in `calls`, as unused.
  void PassOthers(const std::vector<const op::Call*>& calls);
  // Sets the tensor of a parameter of the function that is a gradient.
  void SetGradient(int parameter, const OutputGradient& gradient);
  void AddCall(const op::Call& call, LayoutBuilder& builder);
  // The type in which a tensor is stored. If the node stores its output in the
  // compute type, this also holds for the gradients with respect to it.
  DataType StoredType(int tensor, const LayoutBuilder& builder) const;
  // If the tensor is a variable's gradient, or shares its memory, the place
  // where it must be written; else null.
  Tensor* VariableGradient(int tensor, LayoutBuilder& builder);
  // The memory for the node's part of a variable's gradient.
  Tensor* GradientPart(size_t variable, LayoutBuilder& builder);
  // Tells the builder which gradients and variables no later call uses.
  void FinishVariables(LayoutBuilder& builder);
  // The variables whose gradients became complete.
  std::vector<size_t> TakeFinished();

  const Node& node_;
  const NodeFunction lowered_;
  Overwriting overwriting_;
  // Tensors of the program by tensor of the function; null: not computed yet.
  std::vector<Tensor*> tensors_;
  // By index of the node's variables. Null: not asked for yet.
  std::vector<Tensor*> gradient_parts_;
  std::vector<bool> is_finished_;
  std::vector<bool> is_unread_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_LOWERED_NODE_H_
