#include "worker/device/program/overwriting.h"

#include <numeric>

#include "common/operations/reshape.h"

namespace paceline {
namespace {

std::vector<int> FindMemories(const op::Function& function) {
  std::vector<int> memories(function.tensor_count());
  std::iota(memories.begin(), memories.end(), 0);
  for (const op::Call& call : function.calls()) {
    if (call.operation->name() == op::ReshapeOperation::kName) {
      memories[call.outputs[0]] = memories[call.inputs[0]];
    }
  }
  return memories;
}

}  // namespace

Overwriting::Overwriting(const op::Function& function)
    : function_(function),
      memories_(FindMemories(function)),
      is_ours_(function.tensor_count()),
      is_result_(function.tensor_count()),
      reads_left_(function.tensor_count()) {
  for (const op::Call& call : function.calls()) {
    // The output of a call without inputs may be a constant.
    for (const int output : call.outputs) {
      is_ours_[output] = !call.inputs.empty();
    }
    for (const int input : call.inputs) ++reads_left_[memories_[input]];
  }
  for (const int result : function.results()) {
    is_result_[memories_[result]] = true;
  }
}

void Overwriting::Pass(const op::Call& call) {
  for (const int input : call.inputs) --reads_left_[memories_[input]];
}

int Overwriting::OverwritableBy(const op::Call& call) const {
  for (const int input : call.inputs) {
    const int memory = memories_[input];
    if (is_ours_[memory] && !is_result_[memory] && !IsRead(input) &&
        function_.type(input) == function_.type(call.outputs[0])) {
      return input;
    }
  }
  return -1;
}

}  // namespace paceline
