#include "worker/device/cuda/open_gpu.h"

#include <dlfcn.h>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "worker/device/cuda/limited_gpu.h"
#include "worker/device/cuda/plugin_entry.h"

namespace paceline::cuda {
namespace {

std::string Version(int version) {
  return absl::StrCat(version / 1000, ".", version % 1000 / 10);
}

absl::Status CheckGpu(const DriverReport& report, int ordinal) {
  if (report.driver_version == 0) {
    return absl::FailedPreconditionError(
        "no NVIDIA driver runs on this machine");
  }
  if (report.driver_version < report.needed_version) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the NVIDIA driver is for CUDA ", Version(report.driver_version),
        " at most, needed is ", Version(report.needed_version), " or newer"));
  }
  if (report.gpu_count == 0) {
    return absl::NotFoundError("no NVIDIA GPU on this machine");
  }
  if (ordinal < 0 || ordinal >= report.gpu_count) {
    return absl::NotFoundError(
        absl::StrCat("no GPU cuda:", ordinal, "; this machine has ",
                     report.gpu_count, ", counted from cuda:0"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Driver>> LoadDriver(const Libraries& libraries) {
  if (dlopen(libraries.driver.c_str(), RTLD_LAZY | RTLD_LOCAL) == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("no NVIDIA driver on this machine: ", dlerror()));
  }
  void* const plugin = dlopen(libraries.plugin.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) {
    // dlerror's text starts with the name of the missing library.
    const std::string error = dlerror();
    return absl::FailedPreconditionError(
        absl::StrCat(absl::StartsWith(error, libraries.plugin)
                         ? "no CUDA plug-in beside the program: "
                         : "the CUDA plug-in lacks a library: ",
                     error));
  }
  auto* const make_driver =
      reinterpret_cast<MakeDriverFunction*>(dlsym(plugin, kMakeDriverSymbol));
  if (make_driver == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("the CUDA plug-in is of another version: ", dlerror()));
  }
  return std::unique_ptr<Driver>(make_driver());
}

absl::StatusOr<std::unique_ptr<Gpu>> OpenGpu(Driver& driver, int ordinal,
                                             const CudaOptions& options) {
  RETURN_IF_ERROR(CheckGpu(driver.Report(), ordinal));
  ASSIGN_OR_RETURN(std::unique_ptr<Gpu> gpu, driver.Open(ordinal, options.gpu));
  if (options.memory_limit_bytes == 0) return gpu;
  return LimitMemory(std::move(gpu), options.memory_limit_bytes);
}

}  // namespace paceline::cuda
