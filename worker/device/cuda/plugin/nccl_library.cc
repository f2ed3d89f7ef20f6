#include "worker/device/cuda/plugin/nccl_library.h"

#include <dlfcn.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace paceline::cuda {
namespace {

// Explains the last failure of dlopen or dlsym.
absl::Status NoNccl() {
  return absl::UnimplementedError(
      absl::StrCat("a group of GPUs needs NCCL: ", dlerror()));
}

template <typename Function>
absl::Status Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function == nullptr ? NoNccl() : absl::OkStatus();
}

}  // namespace

absl::StatusOr<NcclLibrary> LoadNccl(const std::string& name) {
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return NoNccl();
  NcclLibrary nccl;
  RETURN_IF_ERROR(Find(library, "ncclAllReduce", nccl.AllReduce));
  RETURN_IF_ERROR(Find(library, "ncclCommAbort", nccl.CommAbort));
  RETURN_IF_ERROR(
      Find(library, "ncclCommGetAsyncError", nccl.CommGetAsyncError));
  RETURN_IF_ERROR(
      Find(library, "ncclCommInitRankConfig", nccl.CommInitRankConfig));
  RETURN_IF_ERROR(Find(library, "ncclGetErrorString", nccl.GetErrorString));
  RETURN_IF_ERROR(Find(library, "ncclGetLastError", nccl.GetLastError));
  RETURN_IF_ERROR(Find(library, "ncclGetUniqueId", nccl.GetUniqueId));
  return nccl;
}

}  // namespace paceline::cuda
