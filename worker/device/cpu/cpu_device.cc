#include "worker/device/cpu/cpu_device.h"

#include <utility>

#include "common/base/status_macros.h"
#include "common/model/metric_layout.h"
#include "glog/logging.h"
#include "worker/device/cpu/cpu_program.h"
#include "worker/device/cpu/cpu_state.h"
#include "worker/device/cpu/parallel.h"
#include "worker/device/cpu/program_compiler.h"

namespace paceline {

CpuDevice::CpuDevice(const CpuDeviceOptions& options)
    : options_(options), engine_(dnnl::engine::kind::cpu, 0) {
  CHECK_GE(options.threads, 1);
}

absl::Status CpuDevice::Supports(const ProgramSpec& spec) const {
  return cpu::CheckModel(spec);
}

bool CpuDevice::CanCompute(Precision precision) const {
  if (precision == Precision::kFloat32) return true;
  // The sets of instructions are bit masks: a larger set includes the bits of a
  // smaller one.
  constexpr auto kNeeded = static_cast<unsigned>(dnnl_cpu_isa_avx512_core_bf16);
  const auto here = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  return precision == Precision::kMixedBFloat16 && (here & kNeeded) == kNeeded;
}

absl::StatusOr<std::unique_ptr<Stream>> CpuDevice::CreateStream() {
  return std::make_unique<CpuStream>();
}

absl::StatusOr<std::unique_ptr<ModelState>> CpuDevice::CreateState(
    const ProgramSpec& spec) {
  return std::make_unique<CpuState>(*spec.bucket_layout,
                                    MetricLayout(spec.outputs).size(),
                                    spec.gradient_memory);
}

absl::StatusOr<std::unique_ptr<Program>> CpuDevice::Compile(
    const ProgramSpec& spec, ModelState& state) {
  auto& cpu_state = static_cast<CpuState&>(state);
  // oneDNN plans a primitive for the current number of threads.
  cpu::PrepareThread(options_.threads);
  ASSIGN_OR_RETURN(cpu::ProgramParts parts,
                   cpu::CompileProgram(spec, cpu_state, engine_));
  return std::make_unique<CpuProgram>(spec, options_.threads, cpu_state,
                                      std::move(parts));
}

}  // namespace paceline
