// A node of a graph, computed by the operations that its layer is made of.
//
// Its forward and its backward are one function (node_function.h), so that
// backward reads what forward left in memory. A device needs nothing for a
// layer but the operations.
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
  // Of a node of a graph, which outlives it; as it is in the program.
  LoweredNode(const Node& node, NodeFunction function);

  // Adds the calls of the forward; returns the output.
  Tensor* AddForward(absl::Span<Tensor* const> inputs, LayoutBuilder& builder);

  // Adds the calls of the backward: the gradients of the node's variables, then
  // those of the inputs that are wanted. Given are those that the function
  // takes, by the output and by what goes into the final activation, which it
  // may overwrite unless they are shared. Returns one for each input; several
  // may be one tensor. After AddForward, in training.
  std::vector<OutputGradient> AddBackward(OutputGradient output,
                                          OutputGradient before_activation,
                                          const std::vector<bool>& wants_inputs,
                                          LayoutBuilder& builder);

  // What goes into the final activation, for losses that read it; null if no
  // loss may. After AddForward.
  Tensor* before_activation() const;

 private:
  // The calls that these tensors of the function need, as far as they have not
  // been added.
  std::vector<const op::Call*> CallsFor(const std::vector<int>& wanted) const;
  // Notes that the calls that are neither added nor among these never will be.
  void PassOthers(const std::vector<const op::Call*>& calls);
  // Gives a parameter of the function that is a gradient its tensor.
  void SetGradient(int parameter, const OutputGradient& gradient);
  void AddCall(const op::Call& call, LayoutBuilder& builder);
  // The tensor's type in memory: where the compute type is stored, the output
  // and the gradient by an input are of it.
  DataType StoredType(int tensor, const LayoutBuilder& builder) const;
  // Where the tensor must lie, if it is the gradient of a variable, or of its
  // memory; else null.
  Tensor* VariableGradient(int tensor, LayoutBuilder& builder) const;
  // Tells the builder of gradients that no later call reads or writes, and of
  // variables that none reads.
  void FinishVariables(LayoutBuilder& builder);
  // Variables whose gradients are finished now.
  std::vector<size_t> TakeFinished();

  const Node& node_;
  const NodeFunction lowered_;
  Overwriting overwriting_;
  // Tensors of the program, by tensor of the function; null: not computed yet.
  std::vector<Tensor*> tensors_;
  // Of each of the node's variables.
  std::vector<bool> is_finished_;
  std::vector<bool> is_unread_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_LOWERED_NODE_H_
