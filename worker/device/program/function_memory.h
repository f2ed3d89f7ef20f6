// Which tensors of a function share memory on devices.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_FUNCTION_MEMORY_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_FUNCTION_MEMORY_H_

#include <numeric>
#include <vector>

#include "common/operations/function.h"
#include "common/operations/reshape.h"

namespace paceline {

// Of each tensor, the one whose memory it shares: what was reshaped, or itself.
inline std::vector<int> FindMemories(const op::Function& function) {
  std::vector<int> memories(function.tensor_count());
  std::iota(memories.begin(), memories.end(), 0);
  for (const op::Call& call : function.calls()) {
    if (call.operation->name() == op::ReshapeOperation::kName) {
      memories[call.outputs[0]] = memories[call.inputs[0]];
    }
  }
  return memories;
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_FUNCTION_MEMORY_H_
