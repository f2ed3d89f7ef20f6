// From a model to the operations of a program: forward, loss and metrics,
// backward.
#ifndef PACELINE_WORKER_DEVICE_CPU_PROGRAM_COMPILER_H_
#define PACELINE_WORKER_DEVICE_CPU_PROGRAM_COMPILER_H_

#include <dnnl.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/cpu/cpu_state.h"
#include "worker/device/cpu/program_builder.h"
#include "worker/device/device.h"

namespace paceline::cpu {

// See Device::Supports.
absl::Status CheckModel(const ProgramSpec& spec);

// Compiles for the batch size and mode in `spec`. Unimplemented names the
// layer, the loss or the metric that the device cannot compute; errors of
// oneDNN name the layer.
absl::StatusOr<ProgramParts> CompileProgram(const ProgramSpec& spec,
                                            CpuState& state,
                                            const dnnl::engine& engine);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_PROGRAM_COMPILER_H_
