// A function as a list of operations (static single assignment).
//
// A model's forward, loss, backward and update are functions, and so is the
// body of a Scan. Each call reads parameters of the function and outputs of
// earlier calls. Tensors are never overwritten: a device decides where tensors
// are in memory, and which share it.
//
// C++ functions that add calls take and return Tensors. A Tensor knows its
// function, so formulas look as in NumPy (binary_map.h has the operators).
// AddGradients (gradient.h) adds the backward.
//
// The order of the list must not depend on the compiler. C++ does not define in
// which order operands of + or arguments are evaluated. So if two of them add
// calls, assign all but one to variables first.
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

// A parameter of a function, or an output of one of its calls. A handle that is
// valid as long as the function.
class Tensor {
 public:
  // Belongs to no function; may only be assigned to.
  Tensor() = default;
  Tensor(Function& function, int id) : function_(&function), id_(id) {}

  Function& function() const { return *function_; }
  // Number of the tensor in its function, in the order of creation.
  int id() const { return id_; }

  const TensorType& type() const;
  DataType data_type() const { return type().type; }
  const Shape& shape() const { return type().shape; }
  int rank() const { return static_cast<int>(shape().size()); }
  // A negative `axis` counts from the end.
  int64_t dimension(int axis) const;
  // Number of elements.
  int64_t count() const { return NumElements(shape()); }

 private:
  Function* function_ = nullptr;
  int id_ = -1;
};

// An entry of the list. Inputs and outputs are tensor ids.
struct Call {
  std::shared_ptr<const Operation> operation;
  std::vector<int> inputs;
  std::vector<int> outputs;
  // The owner, for errors and traces: "layer conv2d".
  std::string owner;
};

// Thread-safe once it is complete.
class Function {
 public:
  Function() = default;
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  // Sets the owner of the following calls.
  void SetOwner(std::string owner) { owner_ = std::move(owner); }
  const std::string& owner() const { return owner_; }

  Tensor AddParameter(TensorType type);
  // The inputs must be tensors of this function.
  std::vector<Tensor> AddCall(std::shared_ptr<const Operation> operation,
                              absl::Span<const Tensor> inputs);
  void AddResult(Tensor result);

  // Adds the calls of `from`, with these tensors as its parameters; returns its
  // results. Keeps the owners of the calls.
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

  // By id. A deque, since references must stay valid when tensors are added.
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
  // Both functions must outlive the object.
  CallCopier(const Function& from, Function& to);

  // Uses `to` in place of the source function's tensor `from`, which must have
  // the same type.
  void Map(int from, Tensor to);
  bool IsMapped(int from) const { return copies_[from] >= 0; }
  // The copy of a tensor, which must have been mapped or copied.
  Tensor CopyOf(int from) const;
  // Copies a call, whose inputs must have been mapped or copied.
  void Copy(const Call& call);

 private:
  const Function& from_;
  Function& to_;
  // By tensor of the source function; -1: no copy yet.
  std::vector<int> copies_;
};

// Adds a call of an operation that has one output.
template <typename O>
Tensor AddCall(O operation, absl::Span<const Tensor> inputs) {
  return inputs[0].function().AddCall(
      std::make_shared<const O>(std::move(operation)), inputs)[0];
}

// The same for an operation without inputs.
template <typename O>
Tensor AddSource(Function& function, O operation) {
  return function.AddCall(std::make_shared<const O>(std::move(operation)),
                          {})[0];
}

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_FUNCTION_H_
