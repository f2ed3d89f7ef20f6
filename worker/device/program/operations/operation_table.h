// Tables of the operations that a device computes: each entry is a name and a
// function that adds a call of the operation to a program.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_OPERATION_TABLE_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_OPERATION_TABLE_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"
#include "common/operations/rewrites/replace_calls.h"
#include "common/operations/scan.h"
#include "common/operations/tensor_type.h"
#include "worker/device/program/layout_builder.h"
#include "worker/device/program/tensor.h"

namespace paceline {

// A call of an operation with its tensors in the program.
struct PlacedCall {
  const op::Operation& operation;
  absl::Span<Tensor* const> inputs;
  // The type in memory: the compute type if the output is stored so
  // (NodeFunctionSpec::stores_compute_type). float32 means the layer's storage
  // type.
  const op::TensorType& output_type;
  // Where to write the output, if it is a variable's gradient. Null: anywhere.
  Tensor* output = nullptr;
  // Where to write the outputs after the first one.
  absl::Span<Tensor* const> more_outputs = {};
  // An input of the output's shape that no later operation reads. The operation
  // may write its output there. Null: there is none.
  Tensor* overwritable = nullptr;
};

// The tensor for the output: the given one, or a new one.
inline Tensor* OutputOf(const PlacedCall& call, LayoutBuilder& builder) {
  if (call.output != nullptr) return call.output;
  const auto& [type, shape] = call.output_type;
  return type == DataType::kFloat32 ? builder.NewTensor(shape)
                                    : builder.NewTensor(shape, type);
}

// The same for values that are always float32, such as gradients of variables.
inline Tensor* FloatOutputOf(const PlacedCall& call, LayoutBuilder& builder) {
  return call.output != nullptr
             ? call.output
             : builder.NewTensor<float>(call.output_type.shape);
}

// The same for an operation that can work in place: the overwritable input, if
// it is stored in the output's type.
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

// Adds the call. Returns its output, which may differ from PlacedCall::output.
template <typename Builder>
using AddOperation = Tensor*(const PlacedCall& call, Builder& builder);

// Makes a table entry of an operation that is built from what every
// LayoutBuilder has (operations.h).
template <AddOperation<LayoutBuilder>* add, typename Builder>
Tensor* AddShared(const PlacedCall& call, Builder& builder) {
  return add(call, builder);
}

// Whether a device computes this operation for these inputs.
using ComputesOperation = bool(const op::Operation& operation,
                               absl::Span<const op::TensorType> inputs);

// Whether a device supports inputs of these element types; see also
// input_types.h.
using TakesTypes = bool(absl::Span<const op::TensorType> inputs);
// All inputs are float32.
TakesTypes AreFloats;

template <typename Builder>
struct OperationEntry {
  const char* name;
  AddOperation<Builder>* add;
  // Null: all operations of this name.
  ComputesOperation* computes = nullptr;
  TakesTypes* takes = AreFloats;
};

// Null if the table has no operation of this name.
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

// Checks that a device has all operations of a function, which belongs to
// `owner` ("layer conv2d (Conv2D)"), and of the bodies of its scans.
// Unimplemented names the owner and the operation that `device` lacks.
template <typename Builder>
absl::Status CheckOperations(absl::string_view device,
                             absl::Span<const OperationEntry<Builder>> table,
                             absl::string_view owner,
                             const op::Function& function) {
  for (const op::Call& call : function.calls()) {
    if (HasOperation(table, *call.operation, function.TypesOf(call.inputs))) {
      if (const auto* scan = op::As<op::ScanOperation>(&call)) {
        RETURN_IF_ERROR(
            CheckOperations(device, table, owner, *scan->body().function));
      }
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
