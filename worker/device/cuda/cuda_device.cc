#include "worker/device/cuda/cuda_device.h"

#include <utility>

#include "common/base/status_macros.h"
#include "worker/device/cuda/cuda_program.h"
#include "worker/device/cuda/cuda_state.h"
#include "worker/device/cuda/full_memory.h"
#include "worker/device/cuda/program_compiler.h"

namespace paceline {

CudaDevice::CudaDevice(std::unique_ptr<cuda::Gpu> gpu) : gpu_(std::move(gpu)) {}

absl::Status CudaDevice::Supports(const ProgramSpec& spec) const {
  return cuda::CheckModel(spec);
}

absl::StatusOr<std::unique_ptr<Stream>> CudaDevice::CreateStream() {
  return gpu_->CreateQueue(cuda::QueueKind::kComputing);
}

absl::StatusOr<std::unique_ptr<ModelState>> CudaDevice::CreateState(
    const ProgramSpec& spec) {
  return CudaState::Create(*gpu_, spec);
}

absl::StatusOr<std::unique_ptr<Program>> CudaDevice::Compile(
    const ProgramSpec& spec, ModelState& state) {
  auto& cuda_state = static_cast<CudaState&>(state);
  ASSIGN_OR_RETURN(
      cuda::ProgramParts parts,
      cuda::CompileProgram(spec, cuda_state, cuda::Planning::kForUse));
  absl::StatusOr<std::unique_ptr<CudaProgram>> program =
      CudaProgram::Create(spec, cuda_state, std::move(parts));
  if (absl::IsResourceExhausted(program.status())) {
    return cuda::ExplainFullMemory(program.status(), spec, cuda_state);
  }
  RETURN_IF_ERROR(program.status());
  return *std::move(program);
}

}  // namespace paceline
