// The error of a memory that is full.
#ifndef PACELINE_WORKER_DEVICE_CUDA_OUT_OF_MEMORY_H_
#define PACELINE_WORKER_DEVICE_CUDA_OUT_OF_MEMORY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace paceline::cuda {

// ResourceExhausted: `where` ("cuda:0") has no `asked_bytes` for `what`.
inline absl::Status OutOfMemory(absl::string_view where, absl::string_view what,
                                int64_t asked_bytes, int64_t free_bytes,
                                int64_t total_bytes) {
  constexpr double kMib = 1 << 20;
  return absl::ResourceExhaustedError(
      absl::StrCat(where, ": out of memory: ", what, " needs ",
                   static_cast<double>(asked_bytes) / kMib, " MiB, free are ",
                   static_cast<double>(free_bytes) / kMib, " of ",
                   static_cast<double>(total_bytes) / kMib, " MiB"));
}

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_OUT_OF_MEMORY_H_
