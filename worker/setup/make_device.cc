#include "worker/setup/make_device.h"

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/job/device_name.h"
#include "common/job/job_fields.h"
#include "glog/logging.h"
#include "worker/device/cpu/cpu_device.h"
#include "worker/device/cuda/cuda_device.h"
#include "worker/device/reference/reference_device.h"

namespace paceline {
namespace {

std::unique_ptr<Device> MakeCpuDevice(int threads) {
  CpuDeviceOptions options;
  options.threads = threads;
  return std::make_unique<CpuDevice>(options);
}

absl::StatusOr<std::unique_ptr<Device>> MakeCudaDevice(
    int first, int index, const cuda::CudaOptions& options,
    const ProgramSpec& spec, const DriverLoader& load_driver) {
  ASSIGN_OR_RETURN(const std::unique_ptr<cuda::Driver> driver, load_driver());
  const int ordinal = cuda::OrdinalOf(first, index, driver->Report().gpu_count);
  ASSIGN_OR_RETURN(std::unique_ptr<cuda::Gpu> gpu,
                   cuda::OpenGpu(*driver, ordinal, options));
  auto device = std::make_unique<CudaDevice>(std::move(gpu));
  RETURN_IF_ERROR(device->Supports(spec));
  return device;
}

// TF32 only concerns matrix products of GPUs.
Precision WantedPrecision(const v1::Job& job) {
  switch (job.precision()) {
    case v1::PRECISION_MIXED_FLOAT16:
      return Precision::kMixedFloat16;
    case v1::PRECISION_MIXED_BFLOAT16:
      return Precision::kMixedBFloat16;
    default:
      return Precision::kFloat32;
  }
}

absl::Status CheckPrecision(const v1::Job& job, const Device& device) {
  if (device.CanCompute(WantedPrecision(job))) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "device: ", job.device(),
      ": precision: ", Codec<v1::Precision>::Write(job.precision()).as_string(),
      " needs a processor with AVX512-BF16 or AMX, or a GPU; expected float32, "
      "or device: auto"));
}

// Logs once per process, not per replica.
void LogFallback(const v1::Job& job, const Device& cpu,
                 const absl::Status& why) {
  const bool rounds_less = job.precision() == v1::PRECISION_TF32 ||
                           PrecisionOf(job, cpu) != WantedPrecision(job);
  LOG_FIRST_N(INFO, 1) << "device: auto takes the CPU"
                       << (rounds_less ? ", which computes float32 here: "
                                       : ": ")
                       << why.message();
}

}  // namespace

Precision PrecisionOf(const v1::Job& job, const Device& device) {
  const Precision wanted = WantedPrecision(job);
  return device.CanCompute(wanted) ? wanted : Precision::kFloat32;
}

cuda::CudaOptions CudaOptionsOf(const v1::Job& job) {
  return {
      .gpu = {.math_mode = job.precision() == v1::PRECISION_TF32
                               ? cuda::MathMode::kTf32
                               : cuda::MathMode::kFloat32,
              .deterministic = job.deterministic(),
              .autotune = job.autotune()},
      .memory_limit_bytes = static_cast<int64_t>(job.device_memory_limit())};
}

absl::StatusOr<std::unique_ptr<Device>> MakeDevice(
    const v1::Job& job, const DeviceChoice& choice, const ProgramSpec& spec,
    const DriverLoader& load_driver) {
  ASSIGN_OR_RETURN(const DeviceName name, ParseDeviceName(job.device()));
  if (name.kind == DeviceKind::kCpu) {
    std::unique_ptr<Device> cpu = MakeCpuDevice(choice.threads);
    RETURN_IF_ERROR(CheckPrecision(job, *cpu));
    return cpu;
  }
  if (name.kind == DeviceKind::kReference) {
    return std::make_unique<ReferenceDevice<float>>();
  }
  absl::StatusOr<std::unique_ptr<Device>> device = MakeCudaDevice(
      name.ordinal, choice.index, CudaOptionsOf(job), spec, load_driver);
  if (device.ok()) return device;
  if (name.kind == DeviceKind::kAuto) {
    std::unique_ptr<Device> cpu = MakeCpuDevice(choice.threads);
    LogFallback(job, *cpu, device.status());
    return cpu;
  }
  return Annotate(device.status(), absl::StrCat("device: ", job.device()));
}

}  // namespace paceline
