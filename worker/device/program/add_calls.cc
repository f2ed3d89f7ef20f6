#include "worker/device/program/add_calls.h"

#include <cstddef>

#include "worker/device/program/operations/operation_table.h"
#include "worker/device/program/overwriting.h"

namespace paceline {
namespace {

// The place of each tensor of the function; null: anywhere.
std::vector<Tensor*> PlacesByTensor(const op::Function& function,
                                    absl::Span<Tensor* const> places) {
  std::vector<Tensor*> by_tensor(function.tensor_count());
  for (size_t i = 0; i < places.size(); ++i) {
    by_tensor[function.results()[i]] = places[i];
  }
  return by_tensor;
}

}  // namespace

std::vector<Tensor*> AddCalls(const op::Function& function,
                              absl::Span<Tensor* const> parameters,
                              LayoutBuilder& builder,
                              absl::Span<Tensor* const> places) {
  const std::vector<Tensor*> place_of = PlacesByTensor(function, places);
  std::vector<Tensor*> tensors(function.tensor_count());
  for (size_t i = 0; i < parameters.size(); ++i) {
    tensors[function.parameters()[i]] = parameters[i];
  }
  Overwriting overwriting(function);
  for (const op::Call& call : function.calls()) {
    std::vector<Tensor*> inputs;
    for (const int input : call.inputs) inputs.push_back(tensors[input]);
    std::vector<Tensor*> more_outputs;
    for (const int more : absl::MakeSpan(call.outputs).subspan(1)) {
      const auto& [type, shape] = function.type(more);
      tensors[more] = place_of[more] != nullptr
                          ? place_of[more]
                          : builder.NewTensor(shape, type);
      more_outputs.push_back(tensors[more]);
    }
    const int output = call.outputs[0];
    overwriting.Pass(call);
    const int overwritable = overwriting.OverwritableBy(call);
    tensors[output] = builder.AddCall(
        {.operation = *call.operation,
         .inputs = inputs,
         .output_type = function.type(output),
         .output = place_of[output],
         .more_outputs = more_outputs,
         .overwritable = overwritable < 0 ? nullptr : tensors[overwritable]});
  }
  std::vector<Tensor*> results;
  for (const int result : function.results()) {
    results.push_back(tensors[result]);
  }
  return results;
}

}  // namespace paceline
