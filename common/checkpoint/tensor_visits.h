// Initialises variables in memory from the seed, from Keras files or from a
// checkpoint, and copies them for one.
//
// The functions take any class with
//
//   tensors.VisitTensors(
//       [](const Part& part, int slot, absl::Span<T> values) …)
//
// which calls back for each part of a variable that it has: for the variable
// itself (slot -1) and for each slot of the optimizer.
#ifndef PACELINE_COMMON_CHECKPOINT_TENSOR_VISITS_H_
#define PACELINE_COMMON_CHECKPOINT_TENSOR_VISITS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/checkpoint/checkpoint_reader.h"
#include "common/checkpoint/checkpointer.h"
#include "common/checkpoint/manifest_content.h"
#include "common/keras/initial_weights.h"
#include "common/model/seeded_values.h"
#include "common/model/variable.h"
#include "common/sharding/shard_plan.h"
#include "common/tensor/shape.h"

namespace paceline {

// "" for the variable itself.
inline std::string SlotName(absl::Span<const std::string> slot_names,
                            int slot) {
  return slot < 0 ? "" : slot_names[slot];
}

// Sets the variables to their initial values by the seed; does not change
// slots.
template <typename Tensors>
void FillFromSeed(uint64_t seed, absl::Span<const VariableSpec> variables,
                  Tensors& tensors) {
  SeededValues seeded(seed);
  tensors.VisitTensors([&](const Part& part, int slot, auto values) {
    if (slot >= 0) return;
    seeded.Fill(variables[part.variable], part.begin, values);
  });
}

// The same, but variables that `weights` has, and their slots if these were
// found, become those of the file. `weights` may be null. `seeded`: one for all
// tensors of a process. Errors are those of ModelWeights.
template <typename Tensors>
absl::Status FillInitialValues(SeededValues& seeded,
                               absl::Span<const VariableSpec> variables,
                               InitialWeights* weights, Tensors& tensors) {
  absl::Status status;
  tensors.VisitTensors([&](const Part& part, int slot, auto values) {
    if (!status.ok()) return;
    const int variable = part.variable;
    if (weights != nullptr && weights->Has(variable)) {
      status = slot < 0 ? weights->Read(variable, part.begin, values)
                        : weights->ReadSlot(variable, slot, part.begin, values);
    } else if (slot < 0) {
      seeded.Fill(variables[variable], part.begin, values);
    }
  });
  return status;
}

// Reads variables and slots. Call CheckpointReader::CheckFits before. Errors
// are those of CheckpointReader.
template <typename Tensors>
absl::Status ReadTensors(CheckpointReader& checkpoint,
                         absl::Span<const VariableSpec> variables,
                         absl::Span<const std::string> slot_names,
                         Tensors& tensors) {
  absl::Status status;
  tensors.VisitTensors([&](const Part& part, int slot, auto values) {
    if (!status.ok()) return;
    status = checkpoint.Read(variables[part.variable].name,
                             SlotName(slot_names, slot), part.begin, values);
  });
  return status;
}

// The same, but does not change slots.
template <typename Tensors>
absl::Status ReadVariables(CheckpointReader& checkpoint,
                           absl::Span<const VariableSpec> variables,
                           Tensors& tensors) {
  absl::Status status;
  tensors.VisitTensors([&](const Part& part, int slot, auto values) {
    if (!status.ok() || slot >= 0) return;
    status = checkpoint.Read(variables[part.variable].name, /*slot=*/"",
                             part.begin, values);
  });
  return status;
}

// Appends copies of variables and slots, with the manifest's names. `stored`:
// by variable.
template <typename Tensors>
void CopyTensors(absl::Span<const StoredVariable> stored,
                 absl::Span<const std::string> slot_names, Tensors& tensors,
                 std::vector<SnapshotTensor>& out) {
  tensors.VisitTensors([&](const Part& part, int slot, auto values) {
    using T = typename decltype(values)::value_type;
    const StoredVariable& variable = stored[part.variable];
    const StoredPart range = {part.shard, part.begin, part.count};
    SnapshotTensor& tensor = out.emplace_back();
    tensor.name = TensorName(variable, range, SlotName(slot_names, slot));
    tensor.type = DataTypeOf<T>::kValue;
    tensor.shape = TensorShape(variable, range);
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    tensor.bytes.assign(bytes, bytes + values.size() * sizeof(T));
  });
}

}  // namespace paceline

#endif  // PACELINE_COMMON_CHECKPOINT_TENSOR_VISITS_H_
