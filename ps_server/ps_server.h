// A parameter server from its registration to its goodbye.
#ifndef PACELINE_PS_SERVER_PS_SERVER_H_
#define PACELINE_PS_SERVER_PS_SERVER_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "common/identity/job_secret.h"
#include "common/session/member.h"

namespace paceline {

struct PsServerOptions {
  // `address` and `on_stop` are filled in.
  MemberOptions member;
  // The job's; none: anybody may call.
  std::optional<JobSecret> secret;
  // "host:port" to listen on; port 0 takes a free one.
  std::string listen_address;
  // What others reach it by; "": the host of listen_address with the port
  // taken.
  std::string advertised_address;
};

// Serves a shard until the leader wants it to end, and ends the process then
// with exit code 0; if the leader is lost, logs why and ends it with 1. Returns
// only errors of the start.
absl::Status RunPsServer(PsServerOptions options);

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_PS_SERVER_H_
