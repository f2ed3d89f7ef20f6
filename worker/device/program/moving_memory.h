// Memory of a loop's body that is elsewhere in each step.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_MOVING_MEMORY_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_MOVING_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/types/span.h"
#include "worker/device/program/tensor.h"

namespace paceline {

// The address in a step of the loop. Called when the step runs, or is enqueued.
using StepAddress = std::function<std::byte*(int64_t step)>;

struct MovingMemory {
  Memory* memory = nullptr;
  StepAddress address;
};

// Moves all memories to where they are in a step.
inline void MoveTo(int64_t step, absl::Span<const MovingMemory> moving) {
  for (const MovingMemory& each : moving) {
    each.memory->data = each.address(step);
  }
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_MOVING_MEMORY_H_
