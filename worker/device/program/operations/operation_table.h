// The operations that a device computes: a table of names, each with a function
// that adds a call of the operation to a program.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_OPERATION_TABLE_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_OPERATION_TABLE_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"
#include "common/operations/tensor_type.h"
#include "worker/device/program/layout_builder.h"
#include "worker/device/program/tensor.h"

namespace paceline {

// One call of an operation, to be added to a program.
struct PlacedCall {
  const op::Operation& operation;
  absl::Span<Tensor* const> inputs;
  // In memory: an output may be of the compute type
  // (NodeFunctionSpec::stores_compute_type). float32 stands for the layer's
  // storage type.
  const op::TensorType& output_type;
  // Where the output should lie: the gradient of a variable. Null: anywhere.
  Tensor* output = nullptr;
  // Where the outputs behind the first must be written.
  absl::Span<Tensor* const> more_outputs = {};
  // One of the inputs, of the output's shape, that nobody reads afterwards: an
  // operation that can may write its output there. Null: there is none.
  Tensor* overwritable = nullptr;
};

// Where the output lies: as asked, or in a new tensor.
inline Tensor* OutputOf(const PlacedCall& call, LayoutBuilder& builder) {
  if (call.output != nullptr) return call.output;
  const auto& [type, shape] = call.output_type;
  return type == DataType::kFloat32 ? builder.NewTensor(shape)
                                    : builder.NewTensor(shape, type);
}

// The same for numbers that stay float32 whatever layers compute in, such as
// gradients of variables.
inline Tensor* FloatOutputOf(const PlacedCall& call, LayoutBuilder& builder) {
  return call.output != nullptr
             ? call.output
             : builder.NewTensor<float>(call.output_type.shape);
}

// The same for an operation that can write over an input: it does if the input
// lies in memory in the output's type.
inline Tensor* InPlaceOutputOf(const PlacedCall& call, LayoutBuilder& builder) {
  const Tensor* const input = call.overwritable;
  const DataType type = call.output_type.type;
  if (call.output != nullptr || input == nullptr ||
      (input->type != type &&
       (type != DataType::kFloat32 || input->type != builder.storage_type()))) {
    return OutputOf(call, builder);
  }
  builder.NoteOverwriting(call.overwritable);
  return call.overwritable;
}

// Adds the call; returns its output, which need not be PlacedCall::output.
template <typename Builder>
using AddOperation = Tensor*(const PlacedCall& call, Builder& builder);

// An operation that is made of what every LayoutBuilder has (operations.h), in
// a device's table.
template <AddOperation<LayoutBuilder>* add, typename Builder>
Tensor* AddShared(const PlacedCall& call, Builder& builder) {
  return add(call, builder);
}

// Whether a device computes this operation of a name, of these inputs.
using ComputesOperation = bool(const op::Operation& operation,
                               absl::Span<const op::TensorType> inputs);

// Whether it takes inputs of these element types; input_types.h has more.
using TakesTypes = bool(absl::Span<const op::TensorType> inputs);
// All are float32.
TakesTypes AreFloats;

template <typename Builder>
struct OperationEntry {
  const char* name;
  AddOperation<Builder>* add;
  // Null: all of the name.
  ComputesOperation* computes = nullptr;
  TakesTypes* takes = AreFloats;
};

// Null if there is none of its name in the table.
template <typename Builder>
const OperationEntry<Builder>* FindOperation(
    absl::Span<const OperationEntry<Builder>> table,
    const op::Operation& operation) {
  for (const OperationEntry<Builder>& entry : table) {
    if (operation.name() == entry.name) return &entry;
  }
  return nullptr;
}

template <typename Builder>
bool HasOperation(absl::Span<const OperationEntry<Builder>> table,
                  const op::Operation& operation,
                  absl::Span<const op::TensorType> inputs) {
  const OperationEntry<Builder>* const entry = FindOperation(table, operation);
  return entry != nullptr && entry->takes(inputs) &&
         (entry->computes == nullptr || entry->computes(operation, inputs));
}

// Whether a device has all operations of a function, which `owner` ("layer
// conv2d (Conv2D)") is made of. Unimplemented names it and the operation that
// `device` lacks.
template <typename Builder>
absl::Status CheckOperations(absl::string_view device,
                             absl::Span<const OperationEntry<Builder>> table,
                             absl::string_view owner,
                             const op::Function& function) {
  for (const op::Call& call : function.calls()) {
    if (HasOperation(table, *call.operation, function.TypesOf(call.inputs))) {
      continue;
    }
    return absl::UnimplementedError(absl::StrCat(owner, ": the ", device,
                                                 " device has no operation ",
                                                 call.operation->name()));
  }
  return absl::OkStatus();
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_OPERATION_TABLE_H_
