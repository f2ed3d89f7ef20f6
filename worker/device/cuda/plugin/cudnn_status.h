// cuDNN's errors as statuses.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_STATUS_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_STATUS_H_

#include <cudnn.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace paceline::cuda {

// Unimplemented for what cuDNN does not support, else Internal, with cuDNN's
// text for the error. `what` names the failed action.
inline absl::Status ToStatus(cudnnStatus_t status, absl::string_view what) {
  if (status == CUDNN_STATUS_SUCCESS) return absl::OkStatus();
  constexpr size_t kMaxWords = 1024;
  char words[kMaxWords] = "";
  cudnnGetLastErrorString(words, kMaxWords);
  const bool is_unsupported =
      CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED;
  return absl::Status(is_unsupported ? absl::StatusCode::kUnimplemented
                                     : absl::StatusCode::kInternal,
                      absl::StrCat(what, ": cuDNN: ",
                                   cudnnGetErrorString(status), ": ", words));
}

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_STATUS_H_
