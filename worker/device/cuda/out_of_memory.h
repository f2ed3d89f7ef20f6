// Errors about a full GPU memory or pinned memory.
#ifndef PACELINE_WORKER_DEVICE_CUDA_OUT_OF_MEMORY_H_
#define PACELINE_WORKER_DEVICE_CUDA_OUT_OF_MEMORY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

// "1.5 MiB".
inline std::string InMebibytes(int64_t size_bytes) {
  constexpr double kMebibyte = 1 << 20;
  return absl::StrFormat("%.4g MiB",
                         static_cast<double>(size_bytes) / kMebibyte);
}

// ResourceExhausted: `where` ("cuda:0") has no `asked_bytes` free for `what`.
inline absl::Status OutOfMemory(absl::string_view where, absl::string_view what,
                                int64_t asked_bytes, const GpuMemory& memory) {
  return absl::ResourceExhaustedError(
      absl::StrCat(where, ": out of memory: ", InMebibytes(asked_bytes),
                   " asked for ", what, ", ", InMebibytes(memory.free_bytes),
                   " free of ", InMebibytes(memory.total_bytes)));
}

// The same for pinned host memory.
inline absl::Status OutOfPinnedMemory(absl::string_view where,
                                      absl::string_view what,
                                      int64_t asked_bytes) {
  return absl::ResourceExhaustedError(absl::StrCat(
      where, ": out of pinned memory of the host: ", InMebibytes(asked_bytes),
      " asked for ", what));
}

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_OUT_OF_MEMORY_H_
