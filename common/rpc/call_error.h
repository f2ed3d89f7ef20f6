// Adds the callee and the method to the error of a call.
#ifndef PACELINE_COMMON_RPC_CALL_ERROR_H_
#define PACELINE_COMMON_RPC_CALL_ERROR_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/rpc/grpc_status.h"

namespace paceline {

// OK, or an error such as "Push to ps-0 at 127.0.0.1:2222: no answer within
// 10s".
inline absl::Status CallError(const absl::Status& status,
                              absl::string_view call, absl::string_view callee,
                              absl::Duration timeout) {
  if (status.ok()) return absl::OkStatus();
  const std::string prefix = absl::StrCat(call, " to ", callee, ": ");
  if (absl::IsDeadlineExceeded(status)) {
    return absl::DeadlineExceededError(absl::StrCat(
        prefix, "no answer within ", absl::FormatDuration(timeout)));
  }
  return absl::Status(status.code(), absl::StrCat(prefix, status.message()));
}
inline absl::Status CallError(const grpc::Status& status,
                              absl::string_view call, absl::string_view callee,
                              absl::Duration timeout) {
  return CallError(FromGrpcStatus(status), call, callee, timeout);
}

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_CALL_ERROR_H_
