// A function as a list of operations.
//
// A model's forward, its loss, its backward and its update are functions, and
// so is the body of a Scan. Each call reads parameters of the function and
// outputs of earlier calls, and nothing is ever overwritten: where tensors lie
// in memory, and which share it, a device decides.
//
// Functions that add calls take and return Tensors, which know their function,
// so formulas read as in NumPy (binary_map.h has the operators). AddGradients
// (gradient.h) adds the backward of what is there.
//
// The order of the list must not depend on the compiler, and C++ does not say
// which operand of + or which argument is computed first. So of two that add
// calls, all but one get a name in a line before.
#ifndef PACELINE_COMMON_OPERATIONS_FUNCTION_H_
#define PACELINE_COMMON_OPERATIONS_FUNCTION_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "common/operations/operation.h"
#include "common/operations/tensor_type.h"
#include "common/tensor/shape.h"

namespace paceline::op {

class Function;

// A parameter of a function or an output of one of its calls. A handle, valid
// as long as the function.
class Tensor {
 public:
  // Of no function; only to be assigned to.
  Tensor() = default;
  Tensor(Function& function, int id) : function_(&function), id_(id) {}

  Function& function() const { return *function_; }
  // Counts the function's tensors, in the order in which they were added.
  int id() const { return id_; }

  const TensorType& type() const;
  DataType data_type() const { return type().type; }
  const Shape& shape() const { return type().shape; }
  int rank() const { return static_cast<int>(shape().size()); }
  // -1 is the last one.
  int64_t dimension(int axis) const;
  // Of elements.
  int64_t count() const { return NumElements(shape()); }

 private:
  Function* function_ = nullptr;
  int id_ = -1;
};

// One entry of the list. Inputs and outputs are tensors by id.
struct Call {
  std::shared_ptr<const Operation> operation;
  std::vector<int> inputs;
  std::vector<int> outputs;
  // Whose it is: "layer conv2d". For errors and for the trace.
  std::string owner;
};

// Thread-safe once nothing is added any more.
class Function {
 public:
  Function() = default;
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  // Calls that are added from now on are this owner's.
  void SetOwner(std::string owner) { owner_ = std::move(owner); }
  const std::string& owner() const { return owner_; }

  Tensor AddParameter(TensorType type);
  // Inputs are tensors of this function.
  std::vector<Tensor> AddCall(std::shared_ptr<const Operation> operation,
                              absl::Span<const Tensor> inputs);
  void AddResult(Tensor result);

  // Adds the calls of `from`, with these tensors in place of its parameters;
  // returns its results. Owners are those of `from`.
  std::vector<Tensor> Inline(const Function& from,
                             absl::Span<const Tensor> arguments);

  const std::vector<Call>& calls() const { return calls_; }
  const std::vector<int>& parameters() const { return parameters_; }
  const std::vector<int>& results() const { return results_; }
  int tensor_count() const { return static_cast<int>(types_.size()); }
  const TensorType& type(int tensor) const { return types_[tensor]; }
  std::vector<TensorType> TypesOf(absl::Span<const int> tensors) const;
  Tensor tensor(int id) { return {*this, id}; }

 private:
  friend class CallCopier;

  int AddTensor(TensorType type);

  // By id. References to them stay valid as tensors are added.
  std::deque<TensorType> types_;
  std::vector<Call> calls_;
  std::vector<int> parameters_;
  std::vector<int> results_;
  std::string owner_;
};

inline const TensorType& Tensor::type() const { return function_->type(id_); }

// Copies calls from one function to another.
class CallCopier {
 public:
  // Both outlive it.
  CallCopier(const Function& from, Function& to);

  // `to` stands for the tensor of the function that is copied from, which has
  // the same type.
  void Map(int from, Tensor to);
  bool IsMapped(int from) const { return copies_[from] >= 0; }
  // What stands for it, which has been mapped or copied.
  Tensor CopyOf(int from) const;
  // Its inputs have been mapped or copied.
  void Copy(const Call& call);

 private:
  const Function& from_;
  Function& to_;
  // Of each tensor of the function that is copied from; -1: none yet.
  std::vector<int> copies_;
};

// Adds a call of an operation with one output.
template <typename O>
Tensor AddCall(O operation, absl::Span<const Tensor> inputs) {
  return inputs[0].function().AddCall(
      std::make_shared<const O>(std::move(operation)), inputs)[0];
}

// The same of an operation without inputs.
template <typename O>
Tensor AddSource(Function& function, O operation) {
  return function.AddCall(std::make_shared<const O>(std::move(operation)),
                          {})[0];
}

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_FUNCTION_H_
