// The life of a parameter server, from its registration to its end.
#ifndef PACELINE_PS_SERVER_PS_SERVER_H_
#define PACELINE_PS_SERVER_PS_SERVER_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "common/base/read_fence.h"
#include "common/identity/job_secret.h"
#include "common/process/leave_order.h"
#include "common/session/member/member.h"

namespace paceline {

struct PsServerOptions {
  // RunPsServer fills in `address` and `on_stop`.
  MemberOptions member;
  // For what opens the job's files.
  ReadFence fence;
  // The job's secret; nullopt: anybody may call.
  std::optional<JobSecret> secret;
  // "host:port" to listen on; port 0 picks a free port.
  std::string listen_address;
  // The address at which others reach the server; "": the host of
  // listen_address with the port it listens on.
  std::string advertised_address;
  // Asks the server to leave. Must outlive the process's other threads.
  LeaveOrder* leave = nullptr;
};

// Serves a shard, of each phase, until the leader ends the job; then ends the
// process with exit code 0. If the leader is lost, logs why and ends it with 1.
// Asked to leave, it tells the leader, which ends the job. Returns only if the
// start fails, with the error.
absl::Status RunPsServer(PsServerOptions options);

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_PS_SERVER_H_
