// What stands in for a GPU where there is none.
//
// A fake: it was not recorded on a GPU, and proves no more than that the device
// makes the right calls in an order that works. What is not the GPU's is real:
// the bodies of our kernels, on the host's memory, and the device that puts
// them together. Matrix products are plain loops.
#ifndef PACELINE_TESTS_CONFORMANCE_FAKE_GPU_H_
#define PACELINE_TESTS_CONFORMANCE_FAKE_GPU_H_

#include <memory>
#include <string>
#include <vector>

#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

// What was called, in order: "queue 0: launch", "queue 1: copy 8 bytes",
// "allocate", … Queues count from 0.
using CallLog = std::vector<std::string>;

// Queues run what is enqueued at once, or as a graph that holds it is launched.
// Calls go to `log`, which outlives the GPU; null: nowhere. All of a process
// can be a group: its ranks, each on a thread, meet in memory.
std::unique_ptr<Gpu> MakeFakeGpu(CallLog* log = nullptr);

}  // namespace paceline::cuda

#endif  // PACELINE_TESTS_CONFORMANCE_FAKE_GPU_H_
