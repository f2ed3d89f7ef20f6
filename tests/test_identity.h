// The identity of a job without a secret, for tests that are not about access
// control.
#ifndef PACELINE_TESTS_TEST_IDENTITY_H_
#define PACELINE_TESTS_TEST_IDENTITY_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/identity/call_guard.h"
#include "common/identity/caller.h"
#include "common/limits.h"
#include "common/net/listener.h"
#include "common/rpc/rpc_server.h"
#include "common/rpc/tls.h"

namespace paceline {

inline JobIdentity TestJobIdentity() { return {"00000000000000aa", 1}; }

// A worker of that job.
inline std::shared_ptr<Caller> TestCaller(
    std::optional<JobSecret> secret = std::nullopt,
    std::shared_ptr<const Tls> tls = nullptr) {
  v1::Task task;
  task.set_type(v1::TASK_TYPE_WORKER);
  auto caller =
      std::make_shared<Caller>(task, 7, std::move(secret), std::move(tls));
  caller->SetJob(TestJobIdentity());
  return caller;
}

// Serves that job with `thread_count` threads; 0: by the number of cores.
inline absl::StatusOr<std::unique_ptr<RpcServer>> StartTestServer(
    const std::string& address, std::vector<RpcService*> services,
    std::optional<JobSecret> secret = std::nullopt, int thread_count = 0,
    std::shared_ptr<const Tls> tls = nullptr) {
  ASSIGN_OR_RETURN(Listener listener, Listener::Open(address));
  auto guard = std::make_shared<CallGuard>(std::move(secret));
  guard->SetJob(TestJobIdentity());
  return RpcServer::Start(std::move(listener),
                          {guard, std::move(services), limits::kMaxMessageBytes,
                           thread_count, std::move(tls)});
}
inline absl::StatusOr<std::unique_ptr<RpcServer>> StartTestServer(
    const std::string& address, RpcService& service,
    std::optional<JobSecret> secret = std::nullopt, int thread_count = 0,
    std::shared_ptr<const Tls> tls = nullptr) {
  return StartTestServer(address, std::vector<RpcService*>{&service},
                         std::move(secret), thread_count, std::move(tls));
}

}  // namespace paceline

#endif  // PACELINE_TESTS_TEST_IDENTITY_H_
