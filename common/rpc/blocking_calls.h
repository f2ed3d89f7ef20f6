// Calls of one service that block until their answer.
#ifndef PACELINE_COMMON_RPC_BLOCKING_CALLS_H_
#define PACELINE_COMMON_RPC_BLOCKING_CALLS_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/status_macros.h"
#include "common/rpc/call_channel.h"
#include "common/rpc/call_error.h"
#include "common/rpc/call_group.h"
#include "common/rpc/message_bytes.h"

namespace paceline {

// Blocks until the answer of "/service/Method" or the deadline. Errors name the
// call and the `callee`: "the coordinator at 127.0.0.1:2222".
template <typename Request, typename Response>
absl::StatusOr<Response> CallAndWait(CallChannel& channel,
                                     absl::string_view service,
                                     absl::string_view method,
                                     const std::string& callee,
                                     const Request& request,
                                     const CallChannel::Options& options) {
  CallGroup calls(1);
  Response response;
  channel.Start(absl::StrCat("/", service, "/", method), WriteMessage(request),
                options,
                [&response, done = calls.Open(0)](absl::Status status,
                                                  grpc::ByteBuffer& bytes) {
                  if (status.ok()) status = ReadMessage(bytes, response);
                  done(std::move(status));
                });
  calls.Wait();
  RETURN_IF_ERROR(
      CallError(calls.status(0), std::string(method), callee, options.timeout));
  return response;
}

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_BLOCKING_CALLS_H_
