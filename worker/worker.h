// A worker from its registration to its goodbye.
#ifndef PACELINE_WORKER_WORKER_H_
#define PACELINE_WORKER_WORKER_H_

#include <string>

#include "absl/status/status.h"
#include "common/session/member.h"

namespace paceline {

struct WorkerOptions {
  MemberOptions member;
  // "host:port" where workers that talk to each other find it; port 0 takes a
  // free one.
  std::string listen_address;
  // Threads that compute, at least 1.
  int threads = 1;
};

// Joins the job that the leader tells, trains or evaluates until it is over,
// and leaves. Blocks. Errors were reported to the leader; that the leader ended
// the job is none.
absl::Status RunWorker(const WorkerOptions& options);

}  // namespace paceline

#endif  // PACELINE_WORKER_WORKER_H_
